import type { Instant } from '../../base/clock.ts'
import type { WikiOrSnippetKind, WikiOrSnippetName } from '../../git/repo-name.ts'
import type { Db } from '../../store/schema.ts'

const columns = {
  project_wiki: 'project_id',
  group_wiki: 'group_id',
  snippet: 'snippet_id',
} as const satisfies Record<WikiOrSnippetKind, string>

export interface WikiOrSnippetRow {
  readonly id: number
  readonly name: WikiOrSnippetName
  readonly defaultBranch: string | null
}

interface PlainRow {
  readonly id: number
  readonly project_id: number | null
  readonly group_id: number | null
  readonly snippet_id: number | null
  readonly default_branch: string | null
}

function asRow(row: PlainRow): WikiOrSnippetRow {
  const name: WikiOrSnippetName =
    row.project_id !== null
      ? { kind: 'project_wiki', id: row.project_id }
      : row.group_id !== null
        ? { kind: 'group_wiki', id: row.group_id }
        : { kind: 'snippet', id: row.snippet_id ?? 0 }
  return { id: row.id, name, defaultBranch: row.default_branch }
}

export async function findRow(
  db: Db,
  name: WikiOrSnippetName,
): Promise<WikiOrSnippetRow | undefined> {
  const row = await db
    .selectFrom('wiki_snippet_repositories')
    .selectAll()
    .where(columns[name.kind], '=', name.id)
    .executeTakeFirst()
  return row && asRow(row)
}

export async function findRowById(db: Db, id: number): Promise<WikiOrSnippetRow | undefined> {
  const row = await db
    .selectFrom('wiki_snippet_repositories')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row && asRow(row)
}

/** Adds the row of a repository; nothing when somebody was faster. */
export async function insertRow(
  db: Db,
  name: WikiOrSnippetName,
  defaultBranch: string | null,
  now: Instant,
): Promise<void> {
  await db
    .insertInto('wiki_snippet_repositories')
    .values({ [columns[name.kind]]: name.id, default_branch: defaultBranch, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Decides the one branch, unless it is decided; gives what it is. */
export async function saveFirstBranch(db: Db, id: number, branch: string): Promise<string | null> {
  await db
    .updateTable('wiki_snippet_repositories')
    .set({ default_branch: branch })
    .where('id', '=', id)
    .where('default_branch', 'is', null)
    .execute()
  return (await findRowById(db, id))?.defaultBranch ?? null
}

export async function saveSize(db: Db, id: number, size: number): Promise<void> {
  await db
    .updateTable('wiki_snippet_repositories')
    .set({ size })
    .where('id', '=', id)
    .where('size', '!=', size)
    .execute()
}

export async function deleteRow(db: Db, name: WikiOrSnippetName): Promise<void> {
  await db.deleteFrom('wiki_snippet_repositories').where(columns[name.kind], '=', name.id).execute()
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
