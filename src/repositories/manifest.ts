import { daily, every } from '../background/schedule.ts'
import { endpointsOf, type Manifest } from '../manifest.ts'
import { followedPushes } from '../store/migrations/0362-followed-pushes.ts'
import * as branches from './branches/endpoints.ts'
import { deleteMergedBranches } from './branches/tasks.ts'
import * as changelog from './changelog/endpoints.ts'
import * as commits from './commits/endpoints.ts'
import * as commitsFolder from './commits/folder-endpoints.ts'
import * as commitsWrite from './commits/write-endpoints.ts'
import * as compare from './compare/endpoints.ts'
import * as files from './files/endpoints.ts'
import * as filesWrite from './files/write-endpoints.ts'
import * as forks from './forks/endpoints.ts'
import * as repositoryHistory from './history/endpoints.ts'
import { importFromUrl } from './imports/import-url.ts'
import * as mirrors from './mirrors/endpoints.ts'
import * as mirrorsPull from './mirrors/pull-endpoints.ts'
import { pullDueMirrors, pullFromMirror } from './mirrors/pull-task.ts'
import { pushToMirror } from './mirrors/push-task.ts'
import * as protectionsBranch from './protections/branch-endpoints.ts'
import * as protectionsTag from './protections/tag-endpoints.ts'
import * as pushRules from './push-rules/endpoints.ts'
import { forgetPushesTask } from './refs/journal/forget.ts'
import { recoverTask } from './refs/journal/recover.ts'
import { afterPush, afterPushes } from './refs/tasks.ts'
import { extendCommitGraph, upkeep } from './refs/upkeep.ts'
import * as repository from './repository/endpoints.ts'
import * as submodules from './submodules/endpoints.ts'
import * as tags from './tags/endpoints.ts'
import * as templates from './templates/endpoints.ts'
import * as templatesProject from './templates/project-endpoints.ts'
import { measureWikiOrSnippet, tidyWikiOrSnippet } from './wikis-and-snippets/tasks.ts'

export const repositoriesArea: Manifest = {
  name: 'repositories',
  endpoints: endpointsOf({
    'protected branches': protectionsBranch,
    'protected tags': protectionsTag,
    'push rules': pushRules,
    branches,
    commits: [commits, commitsFolder, commitsWrite],
    files: [files, filesWrite],
    mirrors: [mirrors, mirrorsPull],
    projects: forks,
    repository: [changelog, compare, repository, repositoryHistory, submodules],
    tags,
    templates: [templates, templatesProject],
  }),
  tasks: [
    importFromUrl,
    pushToMirror,
    pullDueMirrors,
    pullFromMirror,
    deleteMergedBranches,
    afterPush,
    afterPushes,
    extendCommitGraph,
    forgetPushesTask,
    recoverTask,
    upkeep,
    measureWikiOrSnippet,
    tidyWikiOrSnippet,
  ],
  schedules: [
    daily('3:50', forgetPushesTask, {}),
    every(5 * 60_000, recoverTask, {}),
    every(5 * 60_000, pullDueMirrors, {}),
  ],
  migrations: [followedPushes],
}
