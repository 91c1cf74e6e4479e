import type { Project } from '../../access/subjects.ts'
import { groupBy } from '../../base/group-by.ts'
import type { Ctx } from '../../ctx.ts'
import { placeOfProject } from '../place.ts'
import { mayMakeLabels } from './access.ts'
import type { LabelRow } from './entity.ts'
import {
  insertLabel,
  type LabelSubject,
  linkLabels,
  listLabelsByTitle,
  listLabelsOf,
  unlinkLabels,
} from './queries.ts'

const NEW_LABEL_COLOR = '#6699CC'

/** What a request says of labels: the whole set, or what to add and to take away. */
export interface LabelInput {
  readonly labels?: readonly string[] | undefined
  readonly add?: readonly string[] | undefined
  readonly remove?: readonly string[] | undefined
}

/** What really changed, for events. */
interface LabelChange {
  readonly added: readonly LabelRow[]
  readonly removed: readonly LabelRow[]
}

/**
 * Sets the labels of an issue or merge request by title, in the caller's transaction. Unknown titles become project
 * labels when the caller may make them, else they are left out. Setting `k::v` takes off other `k::…` (docs/contract/D §1.9, §1.12).
 */
export async function setLabels(
  ctx: Ctx,
  project: Project,
  type: LabelSubject,
  subjectId: number,
  input: LabelInput,
): Promise<LabelChange> {
  const before = await listLabelsOf(ctx.db, type, [subjectId])
  const titles = new Set(input.labels ?? before.map((label) => label.title))
  for (const title of input.add ?? []) putTitle(titles, title)
  for (const title of input.remove ?? []) titles.delete(title)
  const after = await labelsOf(ctx, project, onePerScope([...titles]))
  const beforeIds = new Set(before.map((label) => label.id))
  const afterIds = new Set(after.map((label) => label.id))
  const added = after.filter((label) => !beforeIds.has(label.id))
  const removed = before.filter((label) => !afterIds.has(label.id))
  await linkLabels(
    ctx.db,
    type,
    subjectId,
    added.map((label) => label.id),
  )
  await unlinkLabels(
    ctx.db,
    type,
    subjectId,
    removed.map((label) => label.id),
  )
  return { added, removed }
}

function scopeOf(title: string): string | null {
  const at = title.lastIndexOf('::')
  return at <= 0 ? null : title.slice(0, at)
}

function putTitle(titles: Set<string>, title: string): void {
  titles.delete(title)
  titles.add(title)
}

/** Of several `k::…` the last stays. */
function onePerScope(titles: readonly string[]): string[] {
  const kept = new Map<string, string>()
  for (const title of titles) {
    const scope = scopeOf(title)
    const key = scope === null ? `title ${title}` : `scope ${scope}`
    kept.delete(key)
    kept.set(key, title)
  }
  return [...kept.values()]
}

async function labelsOf(
  ctx: Ctx,
  project: Project,
  titles: readonly string[],
): Promise<LabelRow[]> {
  if (titles.length === 0) return []
  const place = placeOfProject(project)
  const known = new Map<string, LabelRow>()
  for (const row of await listLabelsByTitle(ctx.db, place, titles)) {
    if (!known.has(row.title)) known.set(row.title, row)
  }
  const mayMake = mayMakeLabels(ctx, project)
  for (const title of titles) {
    if (known.has(title) || !mayMake || !isLabelTitle(title)) continue
    const label = { title, color: NEW_LABEL_COLOR, description: null }
    known.set(title, await insertLabel(ctx.db, place, label, ctx.now()))
  }
  return titles.flatMap((title) => known.get(title) ?? [])
}

/** The labels of these titles that the project may use, in the given order; unknown ones are left out. */
export async function knownLabels(
  ctx: Ctx,
  project: Project,
  titles: readonly string[],
): Promise<LabelRow[]> {
  const place = placeOfProject(project)
  const rows = await listLabelsByTitle(ctx.db, place, titles)
  const first = [...new Set(titles)].map((title) => rows.find((row) => row.title === title))
  return first.filter((row) => row !== undefined)
}

/** Titles hold neither commas nor nothing, and at most 255 characters. */
export function isLabelTitle(title: string): boolean {
  return title.trim() !== '' && !title.includes(',') && [...title].length <= 255
}

/** Labels of many issues or merge requests, by the subject's id. */
export async function labelsBySubject(
  ctx: Pick<Ctx, 'db'>,
  type: LabelSubject,
  ids: readonly number[],
): Promise<ReadonlyMap<number, LabelRow[]>> {
  return groupBy(await listLabelsOf(ctx.db, type, ids), (row) => row.subject_id)
}
