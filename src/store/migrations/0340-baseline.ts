import type { Migration } from '../migration.ts'
import { accountsTables } from './baseline/accounts.ts'
import { alertsTables } from './baseline/alerts.ts'
import { backupsTables } from './baseline/backups.ts'
import { boardsTables } from './baseline/boards.ts'
import { ciTables } from './baseline/ci.ts'
import { ciRunnersTables } from './baseline/ci-runners.ts'
import { ciStartsTables } from './baseline/ci-starts.ts'
import { commitsTables } from './baseline/commits.ts'
import { containerRegistryTables } from './baseline/container-registry.ts'
import { coreTables } from './baseline/core.ts'
import { environmentsTables } from './baseline/environments.ts'
import { errorsTables } from './baseline/errors.ts'
import { featureFlagsTables } from './baseline/feature-flags.ts'
import { hooksTables } from './baseline/hooks.ts'
import { issuesTables } from './baseline/issues.ts'
import { lfsTables } from './baseline/lfs.ts'
import { mergeRequestsTables } from './baseline/merge-requests.ts'
import { mirrorsTables } from './baseline/mirrors.ts'
import { packagesTables } from './baseline/packages.ts'
import { planningTables } from './baseline/planning.ts'
import { refsTables } from './baseline/refs.ts'
import { releasesTables } from './baseline/releases.ts'
import { spacesTables } from './baseline/spaces.ts'
import { virtualRegistriesTables } from './baseline/virtual-registries.ts'
import { wikisAndSnippetsTables } from './baseline/wikis-and-snippets.ts'

/** The schema as it was before the first release, in one step. What came later follows it. */
export const baseline: Migration = {
  name: '0340-baseline',
  sql: [
    accountsTables,
    alertsTables,
    backupsTables,
    boardsTables,
    ciTables,
    ciRunnersTables,
    ciStartsTables,
    commitsTables,
    containerRegistryTables,
    coreTables,
    environmentsTables,
    errorsTables,
    featureFlagsTables,
    hooksTables,
    issuesTables,
    lfsTables,
    mergeRequestsTables,
    mirrorsTables,
    packagesTables,
    planningTables,
    refsTables,
    releasesTables,
    spacesTables,
    virtualRegistriesTables,
    wikisAndSnippetsTables,
  ].join(''),
  replaces: `
  0001-core 0002-refs 0003-spaces 0004-commits 0010-accounts 0012-exports 0012-sign-in 0030-badges 0031-planning
  0032-issues 0033-merge-requests 0034-protections 0035-releases 0036-hooks 0037-push-effects 0038-push-rules
  0055-task-names 0065-gpg-subkeys 0066-lfs 0070-ci 0071-container-registry 0072-notifications 0080-side-repositories
  0081-wiki-pages 0082-release-evidences 0085-suggestions 0086-request-lists 0087-request-links 0095-boards
  0096-mentions 0097-user-agents 0098-todo-targets 0099-told-statuses 0110-waiting-pushes 0111-task-cut-offs
  0130-one-ref-journal 0131-broadcast-colors 0140-notified-statuses 0141-deploy-keys-of-projects
  0142-oauth-token-families 0143-deploy-tokens-of-jobs 0160-ci-runners 0161-ci-work 0162-ci-variables
  0163-pipeline-origins 0164-request-variables 0165-triggers-and-schedules 0166-environments 0167-job-token-scope
  0168-feature-flags 0170-secure-files-and-flag-clients 0171-old-traces 0172-foreign-sources
  0175-deployed-merge-requests 0200-packages 0201-container-images 0202-virtual-registries 0203-image-cleanup
  0204-forwarded-files 0240-alerts 0241-errors 0242-error-reports 0243-deleted-mentions 0244-draft-line-codes
  0245-board-list-positions 0246-mails-of-a-day 0247-todos-of-notes 0290-chains-of-events 0295-schedule-plays
  0296-resolved-errors 0297-moments-of-resolving 0300-counted-tags 0300-status-lists 0301-error-sizes
  0301-kinds-of-waiting-jobs 0302-remote-mirrors 0303-pull-mirrors 0304-pushed-tags 0310-whole-keys 0311-issue-lists
  0312-issue-positions 0313-merged-commits 0314-mentions-go-first 0320-left-out 0328-virtual-cache-size
  0333-npm-revisions 0340-backups
  `
    .trim()
    .split(/\s+/),
}
