import type { Db } from '../../src/store/schema.ts'

const now = '2026-05-04T10:00:00.000Z'
const stamps = { created_at: now, updated_at: now }

/** A thousand groups with ten projects each; the user is a developer in a tenth of them. Gives ids of projects. */
export async function seedSpaces(db: Db, userId: number): Promise<number[]> {
  const mine: number[] = []
  for (let index = 0; index < 1000; index += 1) {
    const path = `group-${index}`
    const group = { kind: 'group' as const, name: path, path, full_path: path, full_name: path }
    const { id } = await db
      .insertInto('namespaces')
      .values({ ...group, parent_id: null, visibility: 'private', ...stamps })
      .returning('id')
      .executeTakeFirstOrThrow()
    const projects = Array.from({ length: 10 }, (_, at) => {
      const name = `project-${index}-${at}`
      const visibility = index % 7 === 0 ? ('public' as const) : ('private' as const)
      const place = { namespace_id: id, name, path: name, full_path: `${path}/${name}` }
      const description = `What the team of group ${index} builds, part ${at}`
      return { ...place, description, visibility, last_activity_at: now, ...stamps }
    })
    const made = await db.insertInto('projects').values(projects).returning('id').execute()
    if (index % 10 !== 0) continue
    const place = { source_type: 'group' as const, source_id: id, user_id: userId }
    await db
      .insertInto('members')
      .values({ ...place, access_level: 30, ...stamps })
      .execute()
    mine.push(...made.map((row) => row.id))
  }
  return mine
}
