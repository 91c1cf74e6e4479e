import type { Instant } from '../../base/clock.ts'
import type { SideKind, SideName } from '../../git/repo-name.ts'
import type { Db } from '../../store/schema.ts'

const columns = {
  project_wiki: 'project_id',
  group_wiki: 'group_id',
  snippet: 'snippet_id',
} as const satisfies Record<SideKind, string>

export interface SideRow {
  readonly id: number
  readonly name: SideName
  readonly defaultBranch: string | null
}

interface PlainRow {
  readonly id: number
  readonly project_id: number | null
  readonly group_id: number | null
  readonly snippet_id: number | null
  readonly default_branch: string | null
}

function asSide(row: PlainRow): SideRow {
  const name: SideName =
    row.project_id !== null
      ? { kind: 'project_wiki', id: row.project_id }
      : row.group_id !== null
        ? { kind: 'group_wiki', id: row.group_id }
        : { kind: 'snippet', id: row.snippet_id ?? 0 }
  return { id: row.id, name, defaultBranch: row.default_branch }
}

export async function findSideRow(db: Db, name: SideName): Promise<SideRow | undefined> {
  const row = await db
    .selectFrom('side_repositories')
    .selectAll()
    .where(columns[name.kind], '=', name.id)
    .executeTakeFirst()
  return row && asSide(row)
}

export async function findSideRowById(db: Db, id: number): Promise<SideRow | undefined> {
  const row = await db
    .selectFrom('side_repositories')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row && asSide(row)
}

/** Adds the row of a repository; nothing when somebody was faster. */
export async function insertSideRow(
  db: Db,
  name: SideName,
  defaultBranch: string | null,
  now: Instant,
): Promise<void> {
  await db
    .insertInto('side_repositories')
    .values({ [columns[name.kind]]: name.id, default_branch: defaultBranch, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Decides the one branch, unless it is decided; gives what it is. */
export async function claimBranch(db: Db, id: number, branch: string): Promise<string | null> {
  await db
    .updateTable('side_repositories')
    .set({ default_branch: branch })
    .where('id', '=', id)
    .where('default_branch', 'is', null)
    .execute()
  return (await findSideRowById(db, id))?.defaultBranch ?? null
}

export async function saveSideSize(db: Db, id: number, size: number): Promise<void> {
  await db
    .updateTable('side_repositories')
    .set({ size })
    .where('id', '=', id)
    .where('size', '!=', size)
    .execute()
}

export async function deleteSideRow(db: Db, name: SideName): Promise<void> {
  await db.deleteFrom('side_repositories').where(columns[name.kind], '=', name.id).execute()
}

/** Snippets of a project, whatever their state. */
export async function listSnippetIds(db: Db, projectId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('snippets')
    .select('id')
    .where('project_id', '=', projectId)
    .execute()
  return rows.map((row) => row.id)
}

/** A group and all groups below it. */
export async function listGroupIds(db: Db, groupId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('namespace_ancestors')
    .select('namespace_id as id')
    .where('ancestor_id', '=', groupId)
    .execute()
  return [...new Set([groupId, ...rows.map((row) => row.id)])]
}
