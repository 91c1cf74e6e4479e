import { z } from 'zod'
import type { ProjectAbility } from '../../access/abilities.ts'
import { isAdmin, userOf } from '../../access/actor.ts'
import { onProject, type Project } from '../../access/subjects.ts'
import { forbidden, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Endpoint, endpoint, type Shape } from '../../http/endpoint.ts'
import { id, text } from '../../http/params.ts'
import { presentUserBasic, userBasicEntity } from '../../identity/users/basic.ts'
import type { NoteKind } from '../notes/kind.ts'
import { getNote } from '../notes/note-routes.ts'
import type { Awardable } from './awardable.ts'
import { type AwardableType, type AwardRow, findAward, listAwardRows } from './queries.ts'
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

/** One kind of awardable, as the routes need to know it. */
interface AwardableKind {
  readonly path: string
  readonly params: Shape
  readonly ability: ProjectAbility
  find(ctx: Ctx, project: Project, params: Readonly<Record<string, unknown>>): Promise<Awardable>
}

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

async function getAward(ctx: Ctx, subject: Awardable, awardId: number): Promise<AwardRow> {
  const row = await findAward(ctx.db, subject.type, subject.id, awardId)
  if (!row) throw notFound('Award Emoji')
  return row
}

function routes(kind: AwardableKind): Endpoint[] {
  const path = `${kind.path}/award_emoji`
  const tags = ['award_emoji']
  const withAward = { ...kind.params, award_id: id() }
  const write = onProject(kind.ability, { signedIn: true })
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List reactions',
      access: onProject(kind.ability),
      tags,
      params: kind.params,
      paginate: 'offset',
      response: z.array(awardEntity),
      async handler({ ctx, project, params, page }) {
        const subject = await kind.find(ctx, project, params)
        const rows = await listAwardRows(ctx.db, subject.type, subject.id, page)
        return { ...rows, items: rows.items.map((row) => present(ctx, subject, row)) }
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:award_id`,
      summary: 'Get a reaction',
      access: onProject(kind.ability),
      tags,
      params: withAward,
      response: awardEntity,
      async handler({ ctx, project, params }) {
        const subject = await kind.find(ctx, project, params)
        return present(ctx, subject, await getAward(ctx, subject, params.award_id))
      },
    }),
    endpoint({
      method: 'POST',
      path,
      summary: 'React with an emoji',
      access: write,
      tags,
      params: kind.params,
      body: { name: text({ max: 255 }) },
      response: awardEntity,
      status: 201,
      async handler({ ctx, project, params, body }) {
        const subject = await kind.find(ctx, project, params)
        return present(ctx, subject, await award(ctx, project, subject, body.name))
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/:award_id`,
      summary: 'Take a reaction back',
      access: write,
      tags,
      params: withAward,
      async handler({ ctx, project, params }) {
        const subject = await kind.find(ctx, project, params)
        const row = await getAward(ctx, subject, params.award_id)
        if (row.id !== userOf(ctx.actor)?.id && !isAdmin(ctx.actor)) throw forbidden()
        await takeBack(ctx, subject, row)
      },
    }),
  ]
}

/** The routes of reactions to one kind of thing and to the notes on it (spec D §1.14). */
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
