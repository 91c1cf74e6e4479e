import { z } from 'zod'
import { type UserBasic, userBasicEntity } from '../../identity/users/basic.ts'
import type { RowOf } from '../../store/schema.ts'
import { suggestionEntity } from './suggestion-entity.ts'

const lineEndEntity = z.strictObject({
  line_code: z.string().nullable(),
  type: z.string().nullable(),
  old_line: z.int().nullable(),
  new_line: z.int().nullable(),
})

export const positionEntity = z.strictObject({
  base_sha: z.string().nullable(),
  start_sha: z.string().nullable(),
  head_sha: z.string(),
  old_path: z.string(),
  new_path: z.string(),
  position_type: z.enum(['text', 'image', 'file']),
  old_line: z.int().nullable(),
  new_line: z.int().nullable(),
  line_range: z.strictObject({ start: lineEndEntity, end: lineEndEntity }).nullable(),
  width: z.int().nullish(),
  height: z.int().nullish(),
  x: z.number().nullish(),
  y: z.number().nullish(),
})

/** A comment or system note (docs/contract/B §Discussion, docs/contract/B-resolved §11.2). */
export const noteEntity = z.strictObject({
  id: z.int(),
  type: z.enum(['DiscussionNote', 'DiffNote']).nullable(),
  body: z.string(),
  attachment: z.null(),
  author: userBasicEntity.nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  system: z.boolean(),
  noteable_id: z.int().nullable(),
  noteable_type: z.enum(['Issue', 'MergeRequest', 'Snippet', 'Commit', 'Alert']),
  project_id: z.int().nullable(),
  commit_id: z.string().nullish(),
  position: positionEntity.optional(),
  resolvable: z.boolean(),
  resolved: z.boolean().optional(),
  resolved_by: userBasicEntity.nullish(),
  resolved_at: z.string().nullish(),
  suggestions: z.array(suggestionEntity).optional(),
  confidential: z.boolean(),
  internal: z.boolean(),
  imported: z.boolean(),
  imported_from: z.string(),
  noteable_iid: z.int().nullable(),
  commands_changes: z.record(z.string(), z.unknown()),
})

export const discussionEntity = z.strictObject({
  id: z.string(),
  individual_note: z.boolean(),
  notes: z.array(noteEntity),
})

export type NoteRow = RowOf<'notes'>

/** What presenting notes needs beside their rows. */
export interface NotePeople {
  readonly users: ReadonlyMap<number, UserBasic>
  readonly suggestions?: ReadonlyMap<number, z.input<typeof suggestionEntity>[]>
}

type NoteBody = z.input<typeof noteEntity>

export function presentNote(
  row: NoteRow,
  iid: number | null,
  people: NotePeople,
  commandsChanges: Readonly<Record<string, unknown>> = {},
): NoteBody {
  const user = (id: number | null) => people.users.get(id ?? 0) ?? null
  return {
    id: row.id,
    type: row.type,
    body: row.body,
    attachment: null,
    author: user(row.author_id),
    created_at: row.created_at,
    updated_at: row.updated_at,
    system: row.system === 1,
    noteable_id: row.noteable_id,
    noteable_type: row.noteable_type,
    project_id: row.project_id,
    ...positionOf(row, people),
    resolvable: row.resolvable === 1,
    ...resolutionOf(row, user),
    confidential: row.internal === 1,
    internal: row.internal === 1,
    imported: false,
    imported_from: 'none',
    noteable_iid: iid,
    commands_changes: { ...commandsChanges },
  }
}

function positionOf(row: NoteRow, people: NotePeople): Partial<NoteBody> {
  const ofRequest = row.noteable_type === 'MergeRequest' && row.commit_id !== null
  if (row.type !== 'DiffNote' || row.position === null)
    return ofRequest ? { commit_id: row.commit_id } : {}
  const position = JSON.parse(row.position) as z.infer<typeof positionEntity> // written by us
  return { commit_id: row.commit_id, position, suggestions: people.suggestions?.get(row.id) ?? [] }
}

function resolutionOf(
  row: NoteRow,
  user: (id: number | null) => z.input<typeof userBasicEntity> | null,
): Partial<NoteBody> {
  if (row.resolvable === 0) return {}
  return {
    resolved: row.resolved_at !== null,
    resolved_by: user(row.resolved_by_id),
    resolved_at: row.resolved_at,
  }
}

/** What quick actions did when they were all there was of a note (docs/contract/D §1.11). */
export const commandsEntity = z.strictObject({
  commands_changes: z.record(z.string(), z.unknown()),
  summary: z.array(z.string()),
})

export function presentCommands(
  done:
    | { readonly changes: Readonly<Record<string, unknown>>; readonly summary: readonly string[] }
    | undefined,
): z.input<typeof commandsEntity> {
  return { commands_changes: { ...done?.changes }, summary: [...(done?.summary ?? [])] }
}
