import type { Migration } from './migration.ts'
import { core } from './migrations/0001-core.ts'
import { refs } from './migrations/0002-refs.ts'
import { spaces } from './migrations/0003-spaces.ts'
import { commits } from './migrations/0004-commits.ts'
import { accounts } from './migrations/0010-accounts.ts'
import { exportTables } from './migrations/0012-exports.ts'
import { signIn } from './migrations/0012-sign-in.ts'
import { badges } from './migrations/0030-badges.ts'
import { planning } from './migrations/0031-planning.ts'
import { issuesAndNotes } from './migrations/0032-issues.ts'
import { mergeRequests } from './migrations/0033-merge-requests.ts'
import { protections } from './migrations/0034-protections.ts'
import { releases } from './migrations/0035-releases.ts'
import { hooks } from './migrations/0036-hooks.ts'
import { pushEffects } from './migrations/0037-push-effects.ts'
import { pushRules } from './migrations/0038-push-rules.ts'
import { taskNames } from './migrations/0055-task-names.ts'
import { gpgSubkeys } from './migrations/0065-gpg-subkeys.ts'
import { lfs } from './migrations/0066-lfs.ts'
import { ci } from './migrations/0070-ci.ts'
import { containerRegistry } from './migrations/0071-container-registry.ts'
import { notifications } from './migrations/0072-notifications.ts'
import { sideRepositories } from './migrations/0080-side-repositories.ts'
import { wikiPages } from './migrations/0081-wiki-pages.ts'
import { releaseEvidences } from './migrations/0082-release-evidences.ts'
import { suggestions } from './migrations/0085-suggestions.ts'
import { requestLists } from './migrations/0086-request-lists.ts'
import { requestLinks } from './migrations/0087-request-links.ts'
import { boards } from './migrations/0095-boards.ts'
import { mentions } from './migrations/0096-mentions.ts'
import { userAgents } from './migrations/0097-user-agents.ts'
import { todoTargets } from './migrations/0098-todo-targets.ts'
import { toldStatuses } from './migrations/0099-told-statuses.ts'
import { waitingPushes } from './migrations/0110-waiting-pushes.ts'
import { taskCutOffs } from './migrations/0111-task-cut-offs.ts'

/**
 * The migrations of the first schema, whose files span several areas, and of the layers. What an area adds later stands in
 * its manifest. Once released, a migration is never edited, only followed by another.
 */
export const baseMigrations: readonly Migration[] = [
  core,
  refs,
  spaces,
  commits,
  accounts,
  exportTables,
  signIn,
  badges,
  planning,
  issuesAndNotes,
  mergeRequests,
  protections,
  releases,
  hooks,
  pushEffects,
  pushRules,
  taskNames,
  gpgSubkeys,
  lfs,
  ci,
  containerRegistry,
  notifications,
  sideRepositories,
  wikiPages,
  releaseEvidences,
  suggestions,
  requestLists,
  requestLinks,
  boards,
  mentions,
  userAgents,
  todoTargets,
  toldStatuses,
  waitingPushes,
  taskCutOffs,
]
