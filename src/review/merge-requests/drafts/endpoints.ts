import { z } from 'zod'
import { projectRecord } from '../../../access/records.ts'
import type { Project } from '../../../access/subjects.ts'
import { pageOf } from '../../../base/page.ts'
import { existing } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { assertMayReply, noteableConditions } from '../../../discussions/notes/access.ts'
import { positionParameter, said } from '../../../discussions/notes/discussion-routes.ts'
import { positionEntity } from '../../../discussions/notes/entity.ts'
import type { Position } from '../../../discussions/notes/noteable.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { filledText, flag, id, integer, text } from '../../../http/params.ts'
import { callerId } from '../../../identity/users/find-user.ts'
import { onMergeRequest } from '../access.ts'
import { submitReview } from '../change/quick-actions.ts'
import { placeNote } from '../diff/diff-position.ts'
import { assertOwnCommit } from '../diff/own-commit.ts'
import { getMergeRequest, noteableOf } from '../find.ts'
import { path } from '../path.ts'
import type { MergeRequestRow } from '../row.ts'
import { discardDraft, listOwnDrafts, saveDraft } from './publish-drafts.ts'
import { type DraftRow, updateDraft } from './queries.ts'

/** Drafts are written by whoever may comment, and seen by their author alone. */
const access = onMergeRequest('create_note', { signedIn: true })
const drafts = `${path}/draft_notes`
const onOwnDraft = projectRecord('read_merge_requests', {
  params: { merge_request_iid: integer(), draft_note_id: id() },
  async find({ ctx, project, params }) {
    const mergeRequest = await getMergeRequest(ctx, project, params.merge_request_iid)
    const own = await listOwnDrafts(ctx, mergeRequest)
    const draft = existing(own.find((one) => one.id === params.draft_note_id))
    return { mergeRequest, draft }
  },
  conditions: ({ ctx, project, mergeRequest }) =>
    noteableConditions(noteableOf(ctx, project, mergeRequest)),
})('create_note', { signedIn: true })

const draftEntity = z.strictObject({
  id: z.int(),
  author_id: z.int(),
  merge_request_id: z.int(),
  resolve_discussion: z.boolean(),
  discussion_id: z.string().nullable(),
  note: z.string(),
  commit_id: z.string().nullable(),
  line_code: z.string().nullable(),
  position: positionEntity.nullable(),
})

function present(row: DraftRow): z.input<typeof draftEntity> {
  const { id, author_id, merge_request_id, discussion_id, note, commit_id, line_code } = row
  const position = row.position === null ? null : (JSON.parse(row.position) as Position) // written by us
  const resolve_discussion = row.resolve_discussion === 1
  return {
    ...{ id, author_id, merge_request_id, discussion_id, note, commit_id },
    ...{ resolve_discussion, line_code, position },
  }
}

async function placed(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  asked: z.infer<typeof positionParameter> | undefined,
): Promise<Pick<DraftRow, 'position' | 'line_code'> | undefined> {
  if (!asked) return undefined
  const place = await placeNote(ctx, noteableOf(ctx, project, row), said(asked))
  return { position: JSON.stringify(place.position), line_code: place.lineCode }
}

export const listDraftNotes = endpoint({
  method: 'GET',
  path: drafts,
  summary: "List the caller's own drafts on a merge request",
  access,
  paginate: 'offset',
  response: z.array(draftEntity),
  async handler({ ctx, mergeRequest, page }) {
    const { items, total } = pageOf(await listOwnDrafts(ctx, mergeRequest), page)
    return { items: items.map((draft) => present(draft)), total }
  },
})

export const createDraftNote = endpoint({
  method: 'POST',
  path: drafts,
  summary: 'Write a draft that only its author sees until it is published',
  access,
  body: {
    note: filledText({ max: 1_000_000 }),
    in_reply_to_discussion_id: text({ max: 100 }).optional(),
    commit_id: text({ max: 64 }).optional(),
    resolve_discussion: flag().optional(),
    position: positionParameter.optional(),
  },
  response: draftEntity,
  async handler({ ctx, project, mergeRequest: row, body }) {
    const { in_reply_to_discussion_id: thread, commit_id: commit } = body
    const noteable = noteableOf(ctx, project, row)
    const resolves = body.resolve_discussion ?? false
    if (thread !== undefined) await assertMayReply(ctx, noteable, thread, resolves)
    if (commit !== undefined) await assertOwnCommit(ctx, noteable, commit)
    const draft = await saveDraft(ctx, {
      merge_request_id: row.id,
      author_id: callerId(ctx),
      note: body.note,
      discussion_id: thread ?? null,
      commit_id: commit ?? null,
      resolve_discussion: resolves,
      ...(await placed(ctx, project, row, body.position)),
      created_at: ctx.now(),
    })
    return present(draft)
  },
})

export const getDraftNote = endpoint({
  method: 'GET',
  path: `${drafts}/:draft_note_id`,
  summary: 'Get an own draft',
  access: onOwnDraft,
  response: draftEntity,
  handler: async ({ draft }) => present(draft),
})

export const updateDraftNote = endpoint({
  method: 'PUT',
  path: `${drafts}/:draft_note_id`,
  summary: 'Change an own draft',
  access: onOwnDraft,
  body: {
    note: filledText({ max: 1_000_000 }).optional(),
    position: positionParameter.optional(),
  },
  response: draftEntity,
  async handler({ ctx, project, mergeRequest: row, draft, body }) {
    const place = await placed(ctx, project, row, body.position)
    if (body.note === undefined && !place) return present(draft)
    return present(await updateDraft(ctx.db, draft.id, { note: body.note, ...place }))
  },
})

export const deleteDraftNote = endpoint({
  method: 'DELETE',
  path: `${drafts}/:draft_note_id`,
  summary: 'Throw an own draft away',
  access: onOwnDraft,
  async handler({ ctx, draft }) {
    await discardDraft(ctx, draft)
  },
})

export const publishDraftNote = endpoint({
  method: 'PUT',
  path: `${drafts}/:draft_note_id/publish`,
  summary: 'Publish an own draft',
  access: onOwnDraft,
  handler: ({ ctx, project, mergeRequest, draft }) =>
    submitReview(ctx, project, mergeRequest, [draft]),
})

export const publishDraftNotes = endpoint({
  method: 'POST',
  path: `${drafts}/bulk_publish`,
  summary: 'Publish all own drafts',
  access,
  status: 204,
  handler: async ({ ctx, project, mergeRequest }) =>
    submitReview(ctx, project, mergeRequest, await listOwnDrafts(ctx, mergeRequest)),
})
