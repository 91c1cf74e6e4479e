import type { Project } from '../../../access/subjects.ts'
import type { Ctx, Effect } from '../../../ctx.ts'
import { type ChangedPath, listChangedPaths } from '../../../git/diff/changed-paths.ts'
import { findTag } from '../../../git/refs/tags.ts'
import { type Commit, emptyTreeIn, formatOfId, noObject } from '../../../git/types.ts'
import type { ReadPush } from '../../../repositories/effects.ts'
import { branchStates, tagProtection } from '../../../repositories/refs/branch-state.ts'
import type { RefNews } from '../../../repositories/refs/push-news.ts'
import { fireHooks, type HookPayload, hooksOfBranch, wantsHooks } from '../fire.ts'
import type { HookRow } from '../queries.ts'
import { hookActor, hookProject, hookRepository } from './payload-parts.ts'

/** At most so many commits are listed in a payload (docs/contract/D §1.25). */
const listedCommits = 20
/** Paths of one commit beyond this many are left out. */
const listedPaths = 1000

type IsWanted = (hook: HookRow) => boolean
const always: IsWanted = () => true

/**
 * Reads the payload of a push, while no transaction is open, and gives what fires them in one. A push of more
 * refs than the limit that administrators set says only that the repository changed.
 */
export async function pushHooks(
  ctx: Ctx,
  { project, push, news: read }: ReadPush,
): Promise<Effect<undefined>> {
  const many = push.moves.length > ctx.settings.get('push_event_hooks_limit')
  const payloads: { news: RefNews; payload: HookPayload; isWanted: IsWanted }[] = []
  for (const news of many ? [] : read) {
    const event = news.kind === 'branch' ? 'push' : 'tag_push'
    if (!(await wantsHooks(ctx, project, event))) continue
    const payload = await pushPayload(ctx, project, news, push.options)
    const isBranch = news.kind === 'branch'
    const isWanted = isBranch ? await hooksOfBranch(ctx, project, news.name) : always
    payloads.push({ news, payload, isWanted })
  }
  const tellsUpdate = await wantsHooks(ctx, project, 'repository_update')
  return async (ctx) => {
    for (const { news, payload, isWanted } of payloads) {
      const event = news.kind === 'branch' ? 'push' : 'tag_push'
      await fireHooks(ctx, project, event, () => payload, isWanted)
    }
    if (!tellsUpdate) return
    await fireHooks(ctx, project, 'repository_update', () => repositoryUpdate(ctx, project, push))
  }
}

/** The payload of one branch or tag that moved. */
export async function pushPayload(
  ctx: Ctx,
  project: Project,
  news: RefNews,
  options: readonly string[],
): Promise<HookPayload> {
  const user = await hookActor(ctx)
  const event = news.kind === 'branch' ? 'push' : 'tag_push'
  const removed = news.action === 'removed'
  return {
    object_kind: event,
    event_name: event,
    before: news.action === 'created' ? noObject : news.oldId,
    after: removed ? noObject : news.newId,
    ref: news.ref,
    ref_protected: await isProtected(ctx, project, news),
    checkout_sha: removed ? null : (news.commits[0]?.id ?? news.newId),
    message: news.kind === 'tag' ? await tagMessage(ctx, project, news) : null,
    user_id: user?.id ?? null,
    user_name: user?.name ?? null,
    user_username: user?.username ?? null,
    user_email: user?.email === '[REDACTED]' ? '' : (user?.email ?? ''),
    user_avatar: user?.avatar_url ?? null,
    project_id: project.id,
    project: hookProject(ctx, project),
    commits: await listed(ctx, project, news.commits.slice(0, listedCommits)),
    total_commits_count: news.total,
    push_options: pushOptions(options),
    repository: hookRepository(ctx, project),
  }
}

async function isProtected(ctx: Ctx, project: Project, news: RefNews): Promise<boolean> {
  if (news.kind === 'tag') return (await tagProtection(ctx, project))(news.name)
  return (await branchStates(ctx, project))(news.name).protected
}

async function tagMessage(ctx: Ctx, project: Project, news: RefNews): Promise<string | null> {
  if (news.action === 'removed') return null
  const tag = await findTag(ctx.git.open(project.id), news.name)
  return tag?.tag?.message.trimEnd() ?? null
}

/** Oldest first, as the receivers of the reference platform expect. */
async function listed(ctx: Ctx, project: Project, commits: readonly Commit[]) {
  const found: unknown[] = []
  for (const commit of [...commits].reverse()) found.push(await hookCommit(ctx, project, commit))
  return found
}

/** A commit of a payload, with the paths that it touched; a renamed file is a new path, and an old one that went. */
async function hookCommit(ctx: Ctx, project: Project, commit: Commit) {
  const before = commit.parentIds[0] ?? emptyTreeIn(formatOfId(commit.id))
  const all = await listChangedPaths(ctx.git.open(project.id), before, commit.id)
  const changes = all.slice(0, listedPaths)
  const are = (...statuses: ChangedPath['status'][]) =>
    changes.filter(({ status }) => statuses.includes(status))
  return {
    ...plainCommit(ctx, project, commit),
    added: are('added', 'renamed').map(({ newPath }) => newPath),
    modified: are('modified').map(({ newPath }) => newPath),
    removed: are('deleted', 'renamed').map(({ oldPath }) => oldPath),
  }
}

/** A commit as payloads show it beside something else. */
export function plainCommit(ctx: Pick<Ctx, 'config'>, project: Project, commit: Commit) {
  return {
    id: commit.id,
    message: commit.message,
    title: commit.title,
    timestamp: commit.committer.date,
    url: `${ctx.config.externalUrl}/${project.full_path}/-/commit/${commit.id}`,
    author: { name: commit.author.name, email: commit.author.email },
  }
}

/** `ci.skip` is `{ci: {skip: true}}`. */
function pushOptions(options: readonly string[]): Record<string, Record<string, string | true>> {
  const found = new Map<string, Map<string, string | true>>()
  for (const option of options) {
    const [, group, name, value] = /^([^.=]+)\.([^=]+)(?:=(.*))?$/s.exec(option) ?? []
    if (group === undefined || name === undefined) continue
    const inner = found.get(group) ?? new Map<string, string | true>()
    found.set(group, inner.set(name, value ?? true))
  }
  return Object.fromEntries([...found].map(([group, inner]) => [group, Object.fromEntries(inner)]))
}

async function repositoryUpdate(
  ctx: Ctx,
  project: Project,
  push: ReadPush['push'],
): Promise<HookPayload> {
  const user = await hookActor(ctx)
  const changes = push.moves.slice(0, 1000)
  return {
    event_name: 'repository_update',
    user_id: user?.id ?? null,
    user_name: user?.name ?? null,
    user_email: user?.email ?? null,
    user_avatar: user?.avatar_url ?? null,
    project_id: project.id,
    project: hookProject(ctx, project),
    changes: changes.map((move) => ({ before: move.oldId, after: move.newId, ref: move.name })),
    refs: changes.map((move) => move.name),
  }
}
