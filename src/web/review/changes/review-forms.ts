import { createHash } from 'node:crypto'
import { invalidText } from '../../../base/problem.ts'
import { call } from '../../../http/call/call.ts'
import { approveMergeRequest } from '../../../review/approvals/request-endpoints.ts'
import {
  markViewedFile,
  unmarkViewedFile,
} from '../../../review/merge-requests/changed-files/viewed-endpoints.ts'
import {
  createDraftNote,
  deleteDraftNote,
  publishDraftNotes,
  updateDraftNote,
} from '../../../review/merge-requests/drafts/endpoints.ts'
import { mergeRequestThreads } from '../../../review/merge-requests/threads.ts'
import { applySuggestionBatch } from '../../../review/suggestions/endpoints.ts'
import { actForm, form, returnOf, type Sent } from '../../form.ts'
import { leaveFlash } from '../../page-ctx.ts'
import { requestOf } from '../forms.ts'
import { lineCommentPage } from './line-comment.tsx'
import { placeOf } from './lines.ts'

type Fields = Sent<string>['fields']

function textOf(fields: Fields, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value.replaceAll('\r\n', '\n') : ''
}

/** The comment, with its suggestion as a block where other lines were typed. */
function bodyOf(fields: Fields, above: number): string {
  const body = textOf(fields, 'body')
  const suggested = textOf(fields, 'suggestion')
  const isSame = suggested === textOf(fields, 'original') && above === 0
  if (fields.suggestion === undefined || isSame) return body
  const longest = Math.max(2, ...[...suggested.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  const lines = suggested === '' ? '' : `${suggested}\n`
  return `${body}\n\n${fence}suggestion:-${above}+0\n${lines}${fence}`.trim()
}

interface RangeStart {
  readonly old: number
  readonly now: number
  readonly type: string | null
}

function startOf(fields: Fields): RangeStart | undefined {
  const found = /^(\d{1,9})_(\d{1,9})_(old|new)?$/.exec(textOf(fields, 'from'))
  if (!found) return undefined
  return { old: Number(found[1]), now: Number(found[2]), type: found[3] ?? null }
}

function positionOf(fields: Fields, line: string, path: string, start: RangeStart | undefined) {
  const { old_path, base_sha, start_sha, head_sha } = fields
  const shas = { base_sha, start_sha, head_sha, old_path, new_path: path }
  const place = placeOf(line)
  if (!place) return { position_type: 'file', ...shas }
  const code = (old: number, now: number) =>
    `${createHash('sha1').update(path).digest('hex')}_${old}_${now}`
  const { old_line, new_line } = place
  const end = {
    line_code: code(old_line ?? 0, new_line ?? 0),
    type: old_line === null ? 'new' : new_line === null ? 'old' : null,
    old_line,
    new_line,
  }
  const begin = start && {
    line_code: code(start.old, start.now),
    type: start.type,
    old_line: start.type === 'new' ? null : start.old,
    new_line: start.type === 'old' ? null : start.now,
  }
  const range = begin ? { line_range: { start: begin, end } } : {}
  return { position_type: 'text', ...shas, old_line, new_line, ...range }
}

export const commentOnLine = actForm({
  address: '/*project/-/merge_requests/:iid/comments/:line/*file',
  summary: 'Comment on a line of a merge request, at once or with the review',
  page: lineCommentPage,
  async act(sent) {
    const { ctx, path, fields } = sent
    const start = startOf(fields)
    const above = start ? Math.max(0, (placeOf(path.line)?.new_line ?? start.now) - start.now) : 0
    const text = bodyOf(fields, above)
    if (text.trim() === '') throw invalidText('The comment is empty.')
    const position = positionOf(fields, path.line, path.file, start)
    const at = { path: requestOf(path) }
    if (fields.keep === 'draft') {
      await call(createDraftNote, ctx, { ...at, body: { note: text, position } })
    } else {
      await call(mergeRequestThreads.beginThread, ctx, { ...at, body: { body: text, position } })
    }
    return returnOf(sent)
  },
})

export const replyToThread = actForm({
  address: '/*project/-/merge_requests/:iid/discussions/:discussion/reply',
  summary: 'Reply to a thread of a merge request, at once or with the review',
  async act(sent) {
    const { ctx, path, fields } = sent
    const body = textOf(fields, 'body')
    if (fields.keep === 'draft') {
      const note = { note: body, in_reply_to_discussion_id: path.discussion }
      await call(createDraftNote, ctx, { path: requestOf(path), body: note })
    } else {
      const thread = { ...requestOf(path), discussion_id: path.discussion }
      await call(mergeRequestThreads.replyToThread, ctx, { path: thread, body: { body } })
    }
    return returnOf(sent)
  },
})

/** Sends what was kept, with a summary and a verdict. */
export const sendReview = actForm({
  address: '/*project/-/merge_requests/:iid/review',
  summary: 'Send the review of a merge request',
  async act(sent) {
    const { ctx, path, fields } = sent
    const at = { path: requestOf(path) }
    const { sha, verdict, approval_password } = fields
    const asks = verdict === 'request_changes' ? '/request_changes' : ''
    const note = [textOf(fields, 'summary').trim(), asks].filter(Boolean).join('\n\n')
    if (note !== '') await call(createDraftNote, ctx, { ...at, body: { note } })
    if (verdict === 'approve') {
      const body = { sha, approval_password, publish_review: true }
      await call(approveMergeRequest, ctx, { ...at, body })
    } else await call(publishDraftNotes, ctx, at)
    leaveFlash(ctx, { kind: 'notice', text: sentTexts[String(verdict)] ?? 'The review was sent.' })
    return returnOf(sent)
  },
})

const sentTexts: Readonly<Record<string, string>> = {
  approve: 'The review was sent, and you approved the merge request.',
  request_changes: 'The review was sent, and you asked for changes.',
}

const draftAt = (path: {
  readonly project: string
  readonly iid: string
  readonly draft: string
}) => ({
  ...requestOf(path),
  draft_note_id: path.draft,
})

/** What people do in a review: each leads back to where it stood. */
export const reviewForms = [
  commentOnLine,
  replyToThread,
  sendReview,
  form({
    address: '/*project/-/merge_requests/:iid/drafts/:draft/update',
    summary: 'Change a draft of the review',
    endpoint: updateDraftNote,
    input: ({ path, fields: { note } }) => ({ path: draftAt(path), body: { note } }),
  }),
  form({
    address: '/*project/-/merge_requests/:iid/drafts/:draft/delete',
    summary: 'Throw a draft of the review away',
    endpoint: deleteDraftNote,
    input: ({ path }) => ({ path: draftAt(path) }),
  }),
  form({
    address: '/*project/-/merge_requests/:iid/suggestions/apply',
    summary: 'Apply suggestions in one commit',
    endpoint: applySuggestionBatch,
    input: ({ fields: { ids } }) => ({ path: {}, body: { ids } }),
    flash: (done) =>
      done.length === 1
        ? 'The suggestion was applied.'
        : `${done.length} suggestions were applied.`,
  }),
  actForm({
    address: '/*project/-/merge_requests/:iid/viewed',
    summary: 'Mark a changed file as viewed or not viewed',
    async act(sent) {
      const { ctx, path, fields } = sent
      const at = { path: requestOf(path) }
      const { path: file, viewed, version_id } = fields
      if (viewed === 'false') await call(unmarkViewedFile, ctx, { ...at, query: { path: file } })
      else await call(markViewedFile, ctx, { ...at, body: { path: file, version_id } })
      return returnOf(sent)
    },
  }),
] as const
