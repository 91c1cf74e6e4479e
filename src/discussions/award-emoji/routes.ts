import { z } from 'zod'
import { notFound } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import type { Ctx } from '../../ctx.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { id, text } from '../../http/params.ts'
import { presentUserBasic, userBasicEntity } from '../../identity/users/basic.ts'
import { getNote } from '../notes/access.ts'
import type { NoteKind } from '../notes/kind.ts'
import { type AwardableKind, onAward, onAwardable } from './access.ts'
import type { Awardable } from './awardable.ts'
import { type AwardableType, type AwardRow, listAwardRows } from './queries.ts'
import { award, takeBack } from './verbs.ts'

const awardEntity = z.strictObject({
  id: z.int(),
  name: z.string(),
  user: userBasicEntity,
  created_at: z.string(),
  updated_at: z.string(),
  awardable_id: z.int(),
  awardable_type: z.enum(['Issue', 'MergeRequest', 'Snippet', 'Note']),
  url: z.string().nullable(),
})

function present(ctx: Ctx, subject: Awardable, row: AwardRow): z.input<typeof awardEntity> {
  return {
    id: row.award_id,
    name: row.award_name,
    user: presentUserBasic(ctx, row),
    created_at: row.awarded_at,
    updated_at: row.changed_at,
    awardable_id: subject.id,
    awardable_type: subject.type,
    url: null,
  }
}

function routes(kind: AwardableKind): Endpoint[] {
  const path = `${kind.path}/award_emoji`
  const tags = ['award_emoji']
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List reactions',
      access: onAwardable(kind),
      tags,
      paginate: 'offset',
      response: z.array(awardEntity),
      async handler({ ctx, subject, page }) {
        const rows = await listAwardRows(ctx.db, subject.type, subject.id, page)
        return { ...rows, items: rows.items.map((row) => present(ctx, subject, row)) }
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:award_id`,
      summary: 'Get a reaction',
      access: onAward(kind),
      tags,
      response: awardEntity,
      handler: ({ ctx, subject, row }) => present(ctx, subject, row),
    }),
    endpoint({
      method: 'POST',
      path,
      summary: 'React with an emoji',
      access: onAwardable(kind, 'award_emoji'),
      tags,
      body: { name: text({ max: 255 }) },
      response: awardEntity,
      handler: async ({ ctx, subject, body }) =>
        present(ctx, subject, await award(ctx, subject, body.name)),
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/:award_id`,
      summary: 'Take a reaction back',
      access: onAward(kind, 'remove_award'),
      tags,
      handler({ ctx, subject, row, request }) {
        assertUnmodifiedSince(request, row.changed_at)
        return takeBack(ctx, subject, row)
      },
    }),
  ]
}

/** The routes of reactions to one kind of thing and to the notes on it (docs/contract/D §1.14). */
export function awardEndpoints(kind: NoteKind, type: Exclude<AwardableType, 'Note'>): Endpoint[] {
  const thing: AwardableKind = {
    path: kind.path,
    params: kind.params,
    ability: kind.ability,
    async find(ctx, project, params) {
      const noteable = await kind.find(ctx, project, params)
      if (noteable.id === null) throw notFound()
      return { type, id: noteable.id, noteable, note: null }
    },
  }
  const notes: AwardableKind = {
    path: `${kind.path}/notes/:note_id`,
    params: { ...kind.params, note_id: id() },
    ability: kind.ability,
    async find(ctx, project, params) {
      const noteable = await kind.find(ctx, project, params)
      const note = await getNote(ctx, noteable, Number(params.note_id))
      return { type: 'Note', id: note.id, noteable, note }
    },
  }
  return [...routes(thing), ...routes(notes)]
}
