import { userOf } from '../../access/actor.ts'
import { findProjectById } from '../../access/find-queries.ts'
import { isProjectMember } from '../../access/members.ts'
import { Role } from '../../access/roles.ts'
import type { Viewer } from '../../access/visible-queries.ts'
import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { findReferences } from '../../markdown/find-references.ts'
import type { Noteable } from '../notes/noteable.ts'
import { addTodos } from '../todos/add.ts'
import { crossReference } from './cross-reference.ts'
import { insertMentions, isSubjectSeen, listMembersOfGroups, listUsersByName } from './queries.ts'

/** Most people and groups that one text calls. */
const MAX_CALLED = 50

/** Where a text stands: on an issue, merge request or commit, or in a note there. */
export type TextPlace = Pick<Noteable, 'type' | 'id' | 'commitId' | 'iid'> & {
  readonly project: Pick<Noteable['project'], 'id' | 'full_path'>
}

interface Called {
  readonly id: number
  readonly username: string
  readonly admin: 0 | 1
  readonly external: 0 | 1
}

/**
 * What follows from a text that was written or changed, in the caller's transaction: those whom it mentions get a to-do,
 * as far as they may see the place, and what it mentions says so (docs/contract/B-resolved §11.3 cross_reference). Internal notes
 * notify nobody elsewhere.
 */
export async function followText(
  ctx: Ctx,
  place: TextPlace,
  text: string,
  note?: { readonly id: number; readonly internal: 0 | 1 },
): Promise<void> {
  const found = findReferences(text)
  if (found.length === 0) return
  const names = found.flatMap((one) => (one.kind === 'user' ? [one.username] : []))
  if (names.length > 0) await callPeople(ctx, place, text, names.slice(0, MAX_CALLED), note)
  if (note?.internal === 1 || place.type === 'Snippet' || place.type === 'Alert') return
  await crossReference(ctx, { ...place, type: place.type }, found)
}

async function callPeople(
  ctx: Ctx,
  place: TextPlace,
  text: string,
  names: readonly string[],
  note?: { readonly id: number; readonly internal: 0 | 1 },
): Promise<void> {
  const target = targetOf(place)
  if (!target) return
  const addressed = addressedBy(text)
  const people = await listUsersByName(ctx.db, names)
  const internal = note?.internal === 1
  const seen = await seeing(ctx, place, people, internal)
  const ids = seen.map((user) => user.id)
  const { type, id } = target
  if (type !== 'Commit' && type !== 'Alert')
    await insertMentions(ctx.db, { type, id }, ids, ctx.now())
  const groups = await listMembersOfGroups(ctx.db, names, dayOf(ctx.now()))
  const members = await seeing(ctx, place, groups, internal)
  const me = userOf(ctx.actor)?.id
  for (const user of [...seen, ...members]) {
    if (user.id === me) continue
    const action = addressed.has(user.username.toLowerCase()) ? 'directly_addressed' : 'mentioned'
    await addTodos(ctx, target, action, [user.id], note?.id)
  }
}

/** The names that a text begins with, however they are written. */
function addressedBy(text: string): ReadonlySet<string> {
  const names = /^(?:\s*@[\w./-]+,?)+/.exec(text)?.[0].match(/[\w./-]+/g) ?? []
  return new Set(names.map((name) => name.replace(/[.-]+$/, '').toLowerCase()))
}

/** What a to-do would be about; nobody is called to snippets. */
function targetOf(place: TextPlace) {
  const projectId = place.project.id
  if (place.type === 'Commit') {
    return { type: place.type, id: 0, projectId, commitId: place.commitId ?? undefined }
  }
  if (place.type === 'Snippet' || place.id === null) return undefined
  return { type: place.type, id: place.id, projectId }
}

function viewerFor(ctx: Ctx, user: Called): Viewer {
  const today = dayOf(ctx.now())
  return { userId: user.id, admin: user.admin === 1, external: user.external === 1, today }
}

/** Those who may read the text: what stands there, and the internal note that it is of. */
async function seeing(
  ctx: Ctx,
  place: TextPlace,
  people: readonly Called[],
  internal: boolean,
): Promise<Called[]> {
  const subject = { type: place.type, id: place.id, projectId: place.project.id }
  const found: Called[] = []
  for (const user of people) {
    if (!(await isSubjectSeen(ctx.db, viewerFor(ctx, user), subject))) continue
    if (!internal || (await readsInternal(ctx, place, user))) found.push(user)
  }
  return found
}

/** Internal notes are for planners and above. */
async function readsInternal(ctx: Ctx, place: TextPlace, user: Called): Promise<boolean> {
  if (user.admin === 1) return true
  const project = await findProjectById(ctx.db, place.project.id)
  if (!project) return false
  return isProjectMember(ctx, user.id, project, Role.planner)
}
