import { z } from 'zod'
import { audit } from '../../../access/audit.ts'
import { anyone, onInstance } from '../../../access/subjects.ts'
import { badRequest, existing, refuseFaults } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { flag, id, text } from '../../../http/params.ts'
import { avatarUrl } from '../../../identity/users/basic.ts'
import { avatarColumns, avatarParam } from '../../../identity/users/params.ts'
import { listPage } from '../../../store/pages.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { taken, uniquely } from '../../../store/unique.ts'
import {
  deleteTopic,
  findTopic,
  insertTopic,
  moveTopicProjects,
  type TopicRow,
  topicsQuery,
  updateTopic,
} from './queries.ts'

const topicEntity = z.strictObject({
  id: z.int(),
  name: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  total_projects_count: z.int(),
  organization_id: z.int(),
  avatar_url: z.string().nullable(),
})

function presentTopic(ctx: Ctx, row: TopicRow): z.input<typeof topicEntity> {
  return {
    id: row.id,
    name: row.name,
    title: row.title,
    description: row.description,
    total_projects_count: row.projects,
    organization_id: 1,
    avatar_url: avatarUrl(ctx, 'topic', row.id, row),
  }
}

async function getTopic(ctx: Ctx, topicId: number): Promise<TopicRow> {
  return existing(await findTopic(ctx.db, topicId), 'Topic')
}

function textFaults(value: string | undefined): string[] {
  if (value === undefined) return []
  if (value.trim() === '') return ["can't be blank"]
  return value.length > 255 ? ['is too long (maximum is 255 characters)'] : []
}

async function auditTopic(ctx: Ctx, action: string, row: { id: number; name: string }) {
  const details = { topic_id: row.id, name: row.name }
  await audit(ctx, { entity: { type: 'Instance', id: 1 }, action, details })
}

const nameTaken = { 'topics.name': () => taken('name') }

export const listTopics = endpoint({
  method: 'GET',
  path: '/topics',
  summary: 'List the topics of projects, the most used first',
  access: anyone(),
  query: { search: text({ max: 1000 }).optional(), without_projects: flag().optional() },
  paginate: 'offset',
  response: z.array(topicEntity),
  async handler({ ctx, query, page }) {
    const filters = { search: query.search, withoutProjects: query.without_projects ?? false }
    const rows = await listPage(ctx.db, topicsQuery(ctx.db, filters), page)
    return { ...rows, items: rows.items.map((row) => presentTopic(ctx, row)) }
  },
})

export const getTopicById = endpoint({
  method: 'GET',
  path: '/topics/:id',
  summary: 'Get a topic',
  access: anyone(),
  params: { id: id() },
  response: topicEntity,
  handler: async ({ ctx, params }) => presentTopic(ctx, await getTopic(ctx, params.id)),
})

export const createTopic = endpoint({
  method: 'POST',
  path: '/topics',
  summary: 'Create a topic',
  access: onInstance(),
  body: {
    name: text({ max: 10_000 }),
    title: text({ max: 10_000 }),
    description: text({ max: 100_000 }).nullish(),
    avatar: avatarParam.optional(),
  },
  response: topicEntity,
  async handler({ ctx, body }) {
    const { name, title } = body
    refuseFaults({ name: textFaults(name), title: textFaults(title) })
    const avatar = await avatarColumns(ctx, body.avatar)
    const now = ctx.now()
    const row = {
      name,
      title,
      description: body.description ?? null,
      created_at: now,
      updated_at: now,
    }
    const topicId = await inTransaction(ctx, async (inner) => {
      const made = await uniquely(nameTaken, () => insertTopic(inner.db, { ...row, ...avatar }))
      await auditTopic(inner, 'topic_created', { id: made, name })
      return made
    })
    return presentTopic(ctx, await getTopic(ctx, topicId))
  },
})

export const changeTopic = endpoint({
  method: 'PUT',
  path: '/topics/:id',
  summary: 'Change a topic',
  access: onInstance(),
  params: { id: id() },
  body: {
    name: text({ max: 10_000 }).optional(),
    title: text({ max: 10_000 }).optional(),
    description: text({ max: 100_000 }).nullish(),
    avatar: avatarParam.optional(),
  },
  response: topicEntity,
  async handler({ ctx, params, body }) {
    const topic = await getTopic(ctx, params.id)
    const { name, title, description } = body
    refuseFaults({ name: textFaults(name), title: textFaults(title) })
    const changes = {
      name,
      title,
      description,
      ...(await avatarColumns(ctx, body.avatar)),
      updated_at: ctx.now(),
    }
    await inTransaction(ctx, async (inner) => {
      await uniquely(nameTaken, () => updateTopic(inner.db, topic.id, changes))
      await auditTopic(inner, 'topic_changed', topic)
    })
    return presentTopic(ctx, await getTopic(ctx, topic.id))
  },
})

export const removeTopic = endpoint({
  method: 'DELETE',
  path: '/topics/:id',
  summary: 'Delete a topic',
  access: onInstance(),
  params: { id: id() },
  async handler({ ctx, params }) {
    const topic = await getTopic(ctx, params.id)
    await inTransaction(ctx, async (inner) => {
      await deleteTopic(inner.db, topic.id)
      await auditTopic(inner, 'topic_deleted', topic)
    })
  },
})

export const mergeTopics = endpoint({
  method: 'POST',
  path: '/topics/merge',
  summary: 'Merge a topic into another',
  access: onInstance(),
  body: { source_topic_id: id(), target_topic_id: id() },
  response: topicEntity,
  async handler({ ctx, body }) {
    await inTransaction(ctx, async (inner) => {
      // Read inside: another merge may have deleted either a moment ago.
      const source = await getTopic(inner, body.source_topic_id)
      const target = await getTopic(inner, body.target_topic_id)
      if (source.id === target.id)
        throw badRequest('The source topic and the target topic are identical.')
      await moveTopicProjects(inner.db, source.id, target.id)
      await deleteTopic(inner.db, source.id)
      await auditTopic(inner, 'topic_merged', source)
    })
    return presentTopic(ctx, await getTopic(ctx, body.target_topic_id))
  },
})
