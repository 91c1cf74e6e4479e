import { conflict, existing, invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { moveSubscriptions } from '../../discussions/subscriptions/subscribe.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import { mergeUses } from '../group-owned-queries.ts'
import type { Place } from '../place.ts'
import { readColor } from './color.ts'
import type { LabelRow } from './entity.ts'
import {
  deleteLabel,
  findGroupLabel,
  findLabel,
  insertLabel,
  listLabelsByTitle,
  listProjectLabelsBelow,
  savePriority,
  updateLabel,
} from './queries.ts'
import { isLabelTitle } from './set-labels.ts'

const exists = () => conflict('Label already exists')
const uniques = {
  'labels.project_id, labels.title': exists,
  'labels.group_id, labels.title': exists,
}

export interface LabelInput {
  readonly name?: string | undefined
  readonly color?: string | undefined
  readonly description?: string | null | undefined
  readonly priority?: number | null | undefined
  readonly archived?: boolean | undefined
}

function checkedColor(color: string): string {
  const value = readColor(color)
  if (value === null) throw invalid({ color: ['must be a valid color code'] })
  return value
}

function checkedTitle(title: string): string {
  const trimmed = title.trim()
  if (!isLabelTitle(trimmed)) throw invalid({ title: ['is invalid'] })
  return trimmed
}

/** A label of a group above has its title below too. */
async function assertTitleFree(ctx: Ctx, place: Place, title: string, ownId?: number) {
  const known = await listLabelsByTitle(ctx.db, place, [title])
  if (known.some((label) => label.id !== ownId)) throw exists()
}

/** Creates a label of a project or group; 409 when the title is taken there or in a group above. */
export async function createLabel(
  ctx: Ctx,
  place: Place,
  input: LabelInput & { name: string; color: string },
) {
  const label = {
    title: checkedTitle(input.name),
    color: checkedColor(input.color),
    description: input.description ?? null,
    archived: input.archived ?? false,
  }
  return inTransaction(ctx, async (ctx) => {
    await assertTitleFree(ctx, place, label.title)
    const row = await uniquely(uniques, () => insertLabel(ctx.db, place, label, ctx.now()))
    const priority = input.priority ?? null
    if (place.projectId !== undefined && priority !== null) {
      await savePriority(ctx.db, place.projectId, row.id, priority)
    }
    return { ...row, priority }
  })
}

/** Changes what the input names; null clears. */
export async function changeLabel(ctx: Ctx, place: Place, id: number, input: LabelInput) {
  const { name, color, description, archived, priority } = input
  const changes = {
    title: name === undefined ? undefined : checkedTitle(name),
    color: color === undefined ? undefined : checkedColor(color),
    description,
    archived,
  }
  await inTransaction(ctx, async (ctx) => {
    if (changes.title !== undefined) await assertTitleFree(ctx, place, changes.title, id)
    await uniquely(uniques, () => updateLabel(ctx.db, id, changes, ctx.now()))
    if (place.projectId !== undefined && priority !== undefined) {
      await savePriority(ctx.db, place.projectId, id, priority)
    }
  })
  return existing(await findLabel(ctx.db, place, String(id), true), 'Label')
}

/**
 * Makes a project label one of the group, or has the group's label of that title take it in: labels of the same title in
 * projects below give way to it, with all that hung on them.
 */
export async function promoteLabel(
  ctx: Ctx,
  group: { readonly id: number },
  label: { readonly id: number; readonly title: string },
) {
  return inTransaction(ctx, async (ctx) => {
    const known = await findGroupLabel(ctx.db, group.id, label.title)
    const kept = known?.id ?? label.id
    const duplicates = (await listProjectLabelsBelow(ctx.db, group.id, label.title))
      .map((row) => row.id)
      .filter((id) => id !== kept)
    await mergeUses(ctx.db, 'label', duplicates, kept)
    await moveSubscriptions(ctx, 'label', duplicates, kept)
    for (const id of duplicates) await deleteLabel(ctx.db, id)
    if (known) return { ...known, priority: null }
    const place = { project_id: null, group_id: group.id }
    const row = await uniquely(uniques, () => updateLabel(ctx.db, label.id, place, ctx.now()))
    return { ...row, priority: null }
  })
}

/** The label of this id if the place knows it: its own, or one of a group above it. */
export async function usableLabel(ctx: Ctx, place: Place, id: number) {
  const row = await findLabel(ctx.db, place, String(id), true)
  return row?.id === id ? row : undefined
}

/** The label of the same title that a project may use, made if there is none. */
export async function labelLike(
  ctx: Ctx,
  place: Place & { readonly projectId: number },
  { title, color, description }: Pick<LabelRow, 'title' | 'color' | 'description'>,
) {
  const [known] = await listLabelsByTitle(ctx.db, place, [title])
  if (known) return known
  return insertLabel(ctx.db, place, { title, color, description }, ctx.now())
}
