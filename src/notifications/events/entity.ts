import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { noteEntity, presentNote } from '../../discussions/notes/entity.ts'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { pageOf } from '../../publishing/wikis/page-name.ts'
import type { RowOf } from '../../store/schema.ts'
import { listEventNotes, listEventPages } from './list-queries.ts'

const pushData = z.strictObject({
  commit_count: z.int(),
  action: z.enum(['created', 'removed', 'pushed']),
  ref_type: z.enum(['branch', 'tag']),
  commit_from: z.string().nullable(),
  commit_to: z.string().nullable(),
  ref: z.string().nullable(),
  commit_title: z.string().nullable(),
  ref_count: z.int().nullable(),
})

const wikiPage = z.strictObject({
  format: z.string(),
  slug: z.string(),
  title: z.string(),
  wiki_page_meta_id: z.int(),
})

/** A line of the feed (docs/contract/D §1.28). */
export const eventEntity = z.strictObject({
  id: z.int(),
  project_id: z.int().nullable(),
  action_name: z.string(),
  target_id: z.int().nullable(),
  target_iid: z.int().nullable(),
  target_type: z.string().nullable(),
  author_id: z.int(),
  target_title: z.string().nullable(),
  created_at: z.string(),
  imported: z.boolean(),
  imported_from: z.string(),
  author: userBasicEntity.nullable(),
  author_username: z.string().nullable(),
  push_data: pushData.optional(),
  note: noteEntity.optional(),
  wiki_page: wikiPage.optional(),
})

type EventRow = RowOf<'events'>

/** Events of a page, with their authors and comments read at once. */
export async function presentEvents(
  ctx: Ctx,
  rows: readonly EventRow[],
): Promise<z.input<typeof eventEntity>[]> {
  const notes = await listEventNotes(
    ctx.db,
    rows.flatMap((row) => row.note_id ?? []),
  )
  const pages = await wikiPagesOf(ctx, rows)
  const people = [
    ...rows.map((row) => row.author_id),
    ...notes.flatMap((note) => [note.author_id, note.resolved_by_id]),
  ]
  const users = await usersById(ctx, people)
  return rows.map((row) => {
    const author = users.get(row.author_id)
    const note = notes.find((one) => one.id === row.note_id)
    const page = row.target_type === WIKI_PAGE ? pages.get(row.target_id ?? 0) : undefined
    const iid = note?.issue_iid ?? note?.merge_request_iid ?? null
    return {
      ...plainFields(row),
      author: author ?? null,
      author_username: author?.username ?? null,
      ...(note ? { note: presentNote(note, iid, { users }) } : {}),
      ...(page ? { wiki_page: page } : {}),
    }
  })
}

const WIKI_PAGE = 'WikiPage::Meta'

/** The pages that events of wikis are about, as they are called now. */
async function wikiPagesOf(ctx: Pick<Ctx, 'db'>, rows: readonly EventRow[]) {
  const ids = rows.flatMap((row) => (row.target_type === WIKI_PAGE ? (row.target_id ?? []) : []))
  const found = await listEventPages(ctx.db, ids)
  return new Map(
    found.map(({ id, slug, path }) => {
      const { format, title } = pageOf(path) ?? { format: 'markdown', title: slug }
      return [id, { format, slug, title, wiki_page_meta_id: id }]
    }),
  )
}

function plainFields(row: EventRow) {
  return {
    id: row.id,
    project_id: row.project_id,
    action_name: row.action_name,
    target_id: row.target_id,
    target_iid: row.target_iid,
    target_type: row.target_type,
    author_id: row.author_id,
    target_title: row.target_title,
    created_at: row.created_at,
    imported: false,
    imported_from: 'none',
    ...(row.push_data === null
      ? {}
      : { push_data: JSON.parse(row.push_data) as z.input<typeof pushData> }), // written by us
  }
}
