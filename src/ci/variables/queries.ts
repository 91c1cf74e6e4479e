import { sql } from 'kysely'
import type { SourceRef } from '../../access/sources.ts'
import type { Page, Paged } from '../../base/page.ts'
import { cachedQuery } from '../../store/cached-query.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type VariableRow = RowOf<'ci_variables'>

/** The variables that jobs of a project may get: the instance's, those of its groups from the top, its own. */
export function listInheritedVariables(
  db: Db,
  project: { readonly id: number; readonly namespace_id: number },
): Promise<readonly VariableRow[]> {
  const key = `variables of ${project.id} in ${project.namespace_id}`
  return cachedQuery(db, key, (db) => askInheritedVariables(db, project))
}

async function askInheritedVariables(
  db: Db,
  project: { readonly id: number; readonly namespace_id: number },
): Promise<VariableRow[]> {
  // Each place by its own index: asked for together, SQLite reads the variables of every project there is.
  const none = sql<number | null>`NULL`.as('depth')
  const rows = await db
    .selectFrom('ci_variables')
    .selectAll('ci_variables')
    .select(none)
    .where('project_id', '=', project.id)
    .unionAll(
      db
        .selectFrom('namespace_ancestors')
        .innerJoin('ci_variables', 'ci_variables.group_id', 'namespace_ancestors.ancestor_id')
        .selectAll('ci_variables')
        .select('namespace_ancestors.depth')
        .where('namespace_ancestors.namespace_id', '=', project.namespace_id),
    )
    .unionAll(
      db
        .selectFrom('ci_variables')
        .selectAll('ci_variables')
        .select(none)
        .where(sql<boolean>`coalesce(group_id, 0) = 0 AND coalesce(project_id, 0) = 0`),
    )
    .orderBy('key')
    .orderBy('id')
    .execute()
  // The nearest group has the least depth, and lies over those above it.
  const rank = (row: (typeof rows)[number]) =>
    row.project_id !== null ? Number.MAX_SAFE_INTEGER : row.depth === null ? -1e9 : -row.depth
  return rows.sort((one, other) => rank(one) - rank(other)).map(({ depth: _, ...row }) => row)
}

/** Whose variables: a project's, a group's, or (neither) the instance's. */
export interface VariablePlace {
  readonly projectId: number | null
  readonly groupId: number | null
}

export const INSTANCE: VariablePlace = { projectId: null, groupId: null }

export function placeOf(source: SourceRef): VariablePlace {
  return source.type === 'project'
    ? { projectId: source.id, groupId: null }
    : { projectId: null, groupId: source.id }
}

function variablesAt(db: Db, { projectId, groupId }: VariablePlace) {
  const query = db.selectFrom('ci_variables').selectAll()
  if (projectId !== null) return query.where('project_id', '=', projectId)
  if (groupId !== null) return query.where('group_id', '=', groupId)
  return query.where('project_id', 'is', null).where('group_id', 'is', null)
}

export function listVariableRows(
  db: Db,
  place: VariablePlace,
  page: Page,
): Promise<Paged<VariableRow>> {
  return listPage(db, variablesAt(db, place).orderBy('id'), page)
}

/** The variables of one key, one for each scope. */
export async function listVariablesOf(
  db: Db,
  place: VariablePlace,
  key: string,
): Promise<VariableRow[]> {
  return await variablesAt(db, place).where('key', '=', key).orderBy('id').execute()
}

export async function findVariable(db: Db, id: number): Promise<VariableRow | undefined> {
  return await db.selectFrom('ci_variables').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function countVariablesOf(db: Db, place: VariablePlace): Promise<number> {
  const row = await variablesAt(db, place)
    .clearSelect()
    .select((is) => is.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return row.count
}

export async function insertVariable(
  db: Db,
  place: VariablePlace,
  row: Omit<NewRowOf<'ci_variables'>, 'group_id' | 'project_id'>,
): Promise<VariableRow> {
  return await db
    .insertInto('ci_variables')
    .values({ ...row, project_id: place.projectId, group_id: place.groupId })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function updateVariable(
  db: Db,
  id: number,
  values: ChangesOf<'ci_variables'>,
): Promise<VariableRow> {
  return await db
    .updateTable('ci_variables')
    .set(values)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteVariable(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('ci_variables').where('id', '=', id))
}
