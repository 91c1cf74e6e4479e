import { actAs } from '../../../access/act-as.ts'
import { findProjectWithRole, type Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { reload } from '../find.ts'
import { findById, updateMergeRequest } from '../queries.ts'
import type { MergeRequestRow } from '../row.ts'
import type { CreateInput, UpdateInput } from './body-params.ts'
import { createMergeRequest } from './create.ts'
import { runRequestCommands, takeRequestCommands } from './quick-actions.ts'
import { changeMergeRequest } from './update.ts'

/** Opens a merge request; quick actions in its description are carried out and left out of it (docs/contract/D §1.11). */
export async function openMergeRequest(
  ctx: Ctx,
  source: Project,
  target: Project,
  input: CreateInput,
): Promise<MergeRequestRow> {
  return withCommands(ctx, target, input.description, (description) =>
    createMergeRequest(ctx, source, target, { ...input, description }),
  )
}

/** Saves a description without its quick actions, which are carried out then. */
async function withCommands(
  ctx: Ctx,
  project: Project,
  description: string | null | undefined,
  save: (description: string | null | undefined) => Promise<MergeRequestRow>,
): Promise<MergeRequestRow> {
  if (!description) return save(description)
  const { text, commands } = takeRequestCommands(description)
  const row = await save(text)
  if (commands.length === 0) return row
  await runRequestCommands(ctx, project, row.id, commands)
  return reload(ctx, row.id)
}

/** Carries out the quick actions that a description still holds, for whoever wrote it. */
export async function applyDescription(
  given: Ctx,
  id: number,
  userId: number | null,
): Promise<void> {
  const ctx = await actAs(given, userId)
  const row = await findById(ctx.db, id)
  const project = row && (await findProjectWithRole(ctx, row.target_project_id))
  if (!row || !project) return
  const { text, commands } = takeRequestCommands(row.description ?? '')
  if (commands.length === 0) return
  await updateMergeRequest(ctx.db, id, { description: text })
  await runRequestCommands(ctx, project, id, commands)
}

/** Changes a merge request, with the quick actions of a new description. */
export async function editMergeRequest(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  input: UpdateInput,
): Promise<MergeRequestRow> {
  return withCommands(ctx, project, input.description, (description) =>
    changeMergeRequest(ctx, project, row, { ...input, description }),
  )
}
