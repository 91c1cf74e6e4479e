import type { Selectable } from 'kysely'
import type { CiVariablesTable } from '../../store/schema/ci.ts'
import type { Db } from '../../store/schema.ts'

export type VariableRow = Selectable<CiVariablesTable>

/** The variables that jobs of a project may get: the instance's, those of its groups from the top, its own. */
export async function listInheritedVariables(
  db: Db,
  project: { readonly id: number; readonly namespace_id: number },
): Promise<VariableRow[]> {
  const rows = await db
    .selectFrom('ci_variables')
    .leftJoin('namespace_ancestors as above', (join) =>
      join
        .onRef('above.ancestor_id', '=', 'ci_variables.group_id')
        .on('above.namespace_id', '=', project.namespace_id),
    )
    .selectAll('ci_variables')
    .select('above.depth')
    .where((is) =>
      is.or([
        is('ci_variables.project_id', '=', project.id),
        is('above.depth', 'is not', null),
        is.and([
          is('ci_variables.project_id', 'is', null),
          is('ci_variables.group_id', 'is', null),
        ]),
      ]),
    )
    .orderBy('ci_variables.key')
    .orderBy('ci_variables.id')
    .execute()
  // The nearest group has the least depth, and lies over those above it.
  const rank = (row: (typeof rows)[number]) =>
    row.project_id !== null ? Number.MAX_SAFE_INTEGER : row.depth === null ? -1e9 : -row.depth
  return rows.sort((one, other) => rank(one) - rank(other)).map(({ depth: _, ...row }) => row)
}
