import { z } from 'zod'
import type { ConflictPart } from '../../../git/merge/conflict-sections.ts'
import { conflictKinds } from '../../../git/merge/conflicts.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { filledText, hash, list, text, textHash } from '../../../http/params.ts'
import { findPushableSource, onMergeRequest, onPushableRequest } from '../access.ts'
import { path } from '../path.ts'
import { conflictsOf } from './read.ts'
import { mergeTargetIntoSource } from './resolve.ts'

/** Texts of as many files as are shown, written by hand. */
const MOST_BYTES = 16 * 1024 * 1024
const sha = z.string().nullable()

const part = z.union([
  z.strictObject({ type: z.literal('same'), text: z.string() }),
  z.strictObject({
    type: z.literal('conflict'),
    id: z.string(),
    ours: z.string(),
    theirs: z.string(),
  }),
])

function presentPart(given: ConflictPart): z.input<typeof part> {
  if (given.kind === 'same') return { type: 'same', text: given.text }
  const { id, ours, theirs } = given
  return { type: 'conflict', id, ours, theirs }
}

/** Ours is the source branch, which takes the target in. */
const conflictsEntity = z.strictObject({
  source_sha: sha,
  target_sha: sha,
  can_resolve: z.boolean(),
  files: z.array(
    z.strictObject({
      path: z.string(),
      kind: z.enum(conflictKinds),
      parts: z.array(part).nullable(),
    }),
  ),
  overflow: z.boolean(),
})

export const getMergeRequestConflicts = endpoint({
  method: 'GET',
  path: `${path}/conflicts`,
  summary: 'Get the conflicts of a merge request',
  access: onMergeRequest(),
  response: conflictsEntity,
  async handler({ ctx, project, mergeRequest, request }) {
    const { sides, files, overflow } = await conflictsOf(ctx, mergeRequest, request.signal)
    const isHere = files.length > 0 && !overflow && files.every((file) => file.parts)
    const source = isHere ? await findPushableSource(ctx, project, mergeRequest) : undefined
    return {
      source_sha: sides?.source ?? null,
      target_sha: sides?.target ?? null,
      can_resolve: source !== undefined && ctx.actor.kind !== 'anonymous',
      files: files.map(({ path, kind, parts }) => ({
        ...{ path, kind },
        parts: parts?.map(presentPart) ?? null,
      })),
      overflow,
    }
  },
})

export const resolveMergeRequestConflicts = endpoint({
  method: 'PUT',
  path: `${path}/conflicts`,
  summary: 'Merge the target into the source branch with every conflict resolved',
  access: onPushableRequest(),
  body: {
    source_sha: filledText({ max: 64 }),
    target_sha: filledText({ max: 64 }),
    commit_message: text().optional(),
    files: list(
      hash({
        path: filledText({ max: 4096 }),
        content: text().optional(),
        sections: textHash().optional(),
      }),
      { max: 100 },
    ),
  },
  maxBody: MOST_BYTES,
  response: z.strictObject({ commit_id: z.string() }),
  async handler({ ctx, project, mergeRequest, body, request }) {
    const { source_sha: source, target_sha: target, commit_message: message, files } = body
    const decided = { source, target, message, files }
    return {
      commit_id: await mergeTargetIntoSource(ctx, project, mergeRequest, decided, request.signal),
    }
  },
})
