import { sql } from 'kysely'
import type { Instant } from '../../../base/clock.ts'
import { deleteFound } from '../../../store/delete-found.ts'
import type { ChangesOf, Db, NewRowOf } from '../../../store/schema.ts'
import { holdsText } from '../../../store/search.ts'

/** How many projects have the topic; one that is being deleted has it no more. */
const projectCount = sql<number>`(select count(*) from project_topics t
  join projects p on p.id = t.project_id where t.topic_id = topics.id and p.pending_delete = 0)`

function topicQuery(db: Db) {
  return db.selectFrom('topics').selectAll('topics').select(projectCount.as('projects'))
}

export type TopicRow = NonNullable<Awaited<ReturnType<typeof findTopic>>>

/** Topics, those with the most projects first. */
export function topicsQuery(
  db: Db,
  filters: { readonly search?: string | undefined; readonly withoutProjects: boolean },
) {
  let query = topicQuery(db).orderBy('projects', 'desc').orderBy('topics.id')
  if (filters.search) {
    query = query.where(holdsText(filters.search, ['topics.name', 'topics.title']))
  }
  return filters.withoutProjects ? query.where(projectCount, '=', 0) : query
}

export function findTopic(db: Db, id: number) {
  return topicQuery(db).where('topics.id', '=', id).executeTakeFirst()
}

export async function insertTopic(db: Db, row: NewRowOf<'topics'>): Promise<number> {
  const { id } = await db.insertInto('topics').values(row).returning('id').executeTakeFirstOrThrow()
  return id
}

export async function updateTopic(db: Db, id: number, changes: ChangesOf<'topics'>): Promise<void> {
  await db.updateTable('topics').set(changes).where('id', '=', id).execute()
}

export async function deleteTopic(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('topics').where('id', '=', id))
}

/** Gives the projects of one topic to another; those that had both keep one. */
export async function moveTopicProjects(db: Db, fromId: number, toId: number): Promise<void> {
  await sql`insert or ignore into project_topics (project_id, topic_id, position)
    select project_id, ${toId}, position from project_topics where topic_id = ${fromId}`.execute(db)
  await db.deleteFrom('project_topics').where('topic_id', '=', fromId).execute()
}

/** Topics of these projects, in the order in which they were given. */
export async function listTopicNames(db: Db, projectIds: readonly number[]) {
  return await db
    .selectFrom('project_topics')
    .innerJoin('topics', 'topics.id', 'project_topics.topic_id')
    .select(['project_topics.project_id', 'topics.name'])
    .where('project_topics.project_id', 'in', projectIds)
    .orderBy('project_topics.project_id')
    .orderBy('project_topics.position')
    .execute()
}

/** Replaces the topics of a project; unknown ones are made. */
export async function saveTopics(
  db: Db,
  projectId: number,
  names: readonly string[],
  now: Instant,
): Promise<void> {
  await db.deleteFrom('project_topics').where('project_id', '=', projectId).execute()
  for (const [position, name] of names.entries()) {
    await db
      .insertInto('topics')
      .values({ name, title: name, created_at: now, updated_at: now })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute()
    await sql`INSERT OR IGNORE INTO project_topics (project_id, topic_id, position)
      SELECT ${projectId}, id, ${position} FROM topics WHERE name = ${name}`.execute(db)
  }
}
