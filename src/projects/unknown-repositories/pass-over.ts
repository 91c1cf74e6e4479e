import { groupBy } from '../../base/group-by.ts'
import type { Ctx } from '../../ctx.ts'
import { type RepoName, repositoryKey, type WikiOrSnippetKind } from '../../git/repo-name.ts'
import { passOverIds } from '../../store/sqlite/counter.ts'
import { inTransaction } from '../../store/transaction.ts'
import { listMissingIds, type Owners } from './queries.ts'

const owners: Readonly<Record<WikiOrSnippetKind, Owners>> = {
  project_wiki: 'projects',
  group_wiki: 'namespaces',
  snippet: 'snippets',
}

const ownerOf = (name: RepoName): Owners =>
  typeof name === 'number' ? 'projects' : owners[name.kind]
const idOf = (name: RepoName): number => (typeof name === 'number' ? name : name.id)

/** Repositories in the data folder whose project, group or snippet the database does not know. */
export async function findUnknownRepositories(
  ctx: Pick<Ctx, 'db' | 'git'>,
): Promise<readonly RepoName[]> {
  const byOwner = groupBy(await ctx.git.list(), ownerOf)
  const unknown: RepoName[] = []
  for (const [table, names] of byOwner) {
    const ids = [...new Set(names.map(idOf))]
    const missing = new Set(await listMissingIds(ctx.db, table, ids))
    unknown.push(...names.filter((name) => missing.has(idOf(name))))
  }
  return unknown.sort((one, other) => idOf(one) - idOf(other))
}

/** So many are named in one line. */
const NAMED = 20

/**
 * Keeps the ids of unknown repositories from new projects, groups and snippets, which would find the files of others
 * there: a database that was restored counts from where it was. The log names them.
 */
export async function passOverUnknown(ctx: Pick<Ctx, 'db' | 'git' | 'log'>): Promise<void> {
  const unknown = await findUnknownRepositories(ctx)
  if (unknown.length === 0) return
  await inTransaction(ctx, async ({ db }) => {
    for (const [table, names] of groupBy(unknown, ownerOf)) {
      await passOverIds(
        db,
        table,
        names.map(idOf).reduce((most, id) => Math.max(most, id)),
      )
    }
  })
  const named = unknown.slice(0, NAMED).map((name) => ctx.git.open(name).path)
  ctx.log.warn(
    'the database does not know these repositories and may be older than they are: they stay, and new projects, ' +
      'groups and snippets get ids above theirs (docs/operations.md, Restoring)',
    { count: unknown.length, repositories: named },
  )
}

/** Gives up an id that was just counted because a repository lies in its place, which nobody may touch. */
export async function passOver(
  ctx: Pick<Ctx, 'db' | 'git' | 'log'>,
  name: RepoName,
): Promise<void> {
  const repository = ctx.git.open(name).path
  ctx.log.warn('a repository that the database does not know has this id: it is passed over', {
    id: repositoryKey(name),
    repository,
  })
  await passOverUnknown(ctx)
}
