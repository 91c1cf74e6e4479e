import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { removeProject } from '../../src/projects/projects/tasks.ts'
import { createGroup, createProject } from '../support/create.ts'
import { ed25519 } from '../support/keys.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const dan = useCaller(world, 'dan')

/** What may name a place that is gone: who did what to it has to be found again. */
const kept = ['audit_events']

/** Rows of any table that still belong to this project or group. */
async function left(kind: 'project' | 'group', id: number): Promise<string[]> {
  const { db } = world.ctx
  const { rows: tables } = await sql<{ name: string }>`
    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`.execute(db)
  const found: string[] = []
  for (const { name } of tables.filter((table) => !kept.includes(table.name))) {
    const { rows: columns } = await sql<{ name: string }>`
      SELECT name FROM pragma_table_info(${name})`.execute(db)
    const names = columns.map((column) => column.name)
    const own = kind === 'project' ? ['project_id'] : ['group_id', 'namespace_id', 'ancestor_id']
    const plain = own.filter((column) => names.includes(column))
    const typed = ['source', 'subject', 'entity', 'target'].filter((prefix) =>
      [`${prefix}_type`, `${prefix}_id`].every((column) => names.includes(column)),
    )
    const tests = [
      ...plain.map((column) => sql`${sql.ref(column)} = ${id}`),
      ...typed.map(
        (prefix) =>
          sql`${sql.ref(`${prefix}_id`)} = ${id} AND lower(${sql.ref(`${prefix}_type`)}) = ${kind}`,
      ),
    ]
    for (const condition of tests) {
      const query = sql<{ count: number }>`
        SELECT count(*) AS count FROM ${sql.table(name)} WHERE ${condition}`
      const { rows } = await query.execute(db)
      if ((rows[0]?.count ?? 0) > 0) found.push(name)
    }
  }
  return found
}

/** Everything that this area puts beside a project or group; gives the bot of its access token. */
async function furnish(path: string, teamId: number) {
  const ok = async (reply: Promise<{ status: number; body: unknown }>) => {
    const { status, body } = await reply
    expect([status < 300, body]).toEqual([true, body])
    return body as { id: number; token: string; user_id: number }
  }
  await ok(ana.post(`${path}/members`, { user_id: ben.id, access_level: 30 }))
  await ok(dan.post(`${path}/access_requests`))
  await ok(ana.post(`${path}/invitations`, { email: 'x@example.org', access_level: 10 }))
  await ok(ana.post(`${path}/share`, { group_id: teamId, group_access: 20 }))
  await ok(ana.post(`${path}/badges`, { link_url: 'https://a', image_url: 'https://b' }))
  await ok(ana.post(`${path}/deploy_tokens`, { name: 'd', scopes: ['read_repository'] }))
  await ok(world.root.put(`${path}/custom_attributes/k`, { value: 'v' }))
  await ok(ana.put(`${path}/notification_settings`, { level: 'watch' }))
  await ok(ana.post(`${path}/labels`, { name: `l ${path}`, color: '#ff0000' }))
  await ok(ana.post(`${path}/milestones`, { title: `m ${path}` }))
  await ok(ana.post(`${path}/variables`, { key: 'KEY', value: 'value' }))
  await ok(ana.post(`${path}/hooks`, { url: 'https://example.org/hook' }))
  await ok(ana.post(`${path}/boards`, { name: 'b' }))
  const account = await ok(ana.post(`${path}/service_accounts`))
  const token = await ok(ana.post(`${path}/access_tokens`, { name: 't', scopes: ['api'] }))
  return { account, token }
}

async function furnishProject(path: string) {
  const form = new FormData()
  form.set('file', new Blob(['x']), 'a.txt')
  await ana.post(`${path}/uploads`, undefined, { raw: form })
  await ana.put(path, { topics: ['tea'] })
  await ben.post(`${path}/star`)
  await ana.post(`${path}/issues`, { title: 'i' })
  await ana.post(`${path}/deploy_keys`, { title: 'k', key: ed25519() })
  await ana.post(`${path}/snippets`, {
    title: 's',
    files: [{ file_path: 'a', content: 'a' }],
    visibility: 'private',
  })
  await ana.post(`${path}/wikis`, { title: 'Home', content: 'x' })
  await world.runTasks()
}

async function account(userId: number, token: string) {
  const { body } = await world.root.get(`/users/${userId}`)
  return [body.state ?? null, (await world.as(token).get('/user')).status]
}

let count = 0
async function team() {
  count += 1
  return (await createGroup(ana, `team-${count}`, { name: `Team ${count}` })).id
}

test('a project leaves nothing behind but the audit trail', async () => {
  const project = await createProject(ana, 'going', {
    visibility: 'public',
    initialize_with_readme: true,
  })
  const path = `/projects/${project.id}`
  const teamId = await team()
  const bots = await furnish(path, teamId)
  await furnishProject(path)
  expect(await left('project', project.id)).toEqual(
    expect.arrayContaining(['members', 'badges', 'deploy_tokens', 'uploads', 'stars']),
  )
  expect((await ana.delete(path)).status).toBe(202)
  // The token opens nothing from the first moment.
  expect((await world.as(bots.token.token).get(path)).status).toBeGreaterThan(400)
  await world.runTasks()
  expect(await left('project', project.id)).toEqual([])
  expect((await world.root.get(`${path}/audit_events`)).status).toBe(404)
  const trail = await world.root.get(`/audit_events?entity_type=Project&entity_id=${project.id}`)
  expect(trail.body[0]).toMatchObject({ event_name: 'project_deleted', author_id: ana.id })
  expect(await account(bots.token.user_id, bots.token.token)).toEqual([null, 401])
  expect((await world.root.get(`/users/${bots.account.id}`)).status).toBe(404)
  expect((await ana.get(`/groups/${teamId}/projects/shared`)).body).toEqual([])
  expect((await ana.get('/topics?search=tea')).body[0].total_projects_count).toBe(0)
})

test('a large project goes in pieces, each in a transaction of its own', async () => {
  const project = await createProject(ana, 'large', { initialize_with_readme: true })
  const { db } = world.ctx
  const at = '2026-05-04T10:00:00.000Z'
  const issue = (iid: number) => ({ iid, project_id: project.id, title: 'i', created_at: at })
  const rows = Array.from({ length: 500 }, (_, index) => ({ ...issue(index + 1), updated_at: at }))
  await db.insertInto('issues').values(rows).execute()
  // Hidden, but without a task that removes it.
  await db.updateTable('projects').set({ pending_delete: 1 }).where('id', '=', project.id).execute()
  const remove = (signal: AbortSignal) =>
    removeProject.handler(world.ctx, { project_id: project.id }, signal)
  const issues = async () => (await left('project', project.id)).includes('issues')
  // A server that stops in between finds the rest at its next start.
  await expect(remove(AbortSignal.abort())).rejects.toThrow()
  const { count } = await db
    .selectFrom('issues')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('project_id', '=', project.id)
    .executeTakeFirstOrThrow()
  expect([count, await issues()]).toEqual([300, true])
  await remove(new AbortController().signal)
  expect(await left('project', project.id)).toEqual([])
})

test('a group leaves nothing behind, and neither does what lay below it', async () => {
  const open = { visibility: 'public' }
  const top = await createGroup(ana, 'top', open)
  const sub = await createGroup(ana, 'sub', { parent_id: top.id, ...open })
  const project = await createProject(ana, 'inside', {
    namespace_id: sub.id,
    initialize_with_readme: true,
    ...open,
  })
  const bots = await furnish(`/groups/${top.id}`, await team())
  await furnish(`/groups/${sub.id}`, await team())
  await furnish(`/projects/${project.id}`, await team())
  await furnishProject(`/projects/${project.id}`)
  const wanted = await team()
  await ana.post(`/groups/${wanted}/share`, { group_id: top.id, group_access: 10 })
  expect((await ana.delete(`/groups/${top.id}`)).status).toBe(202)
  await world.runTasks()
  for (const id of [top.id, sub.id]) expect(await left('group', id)).toEqual([])
  expect(await left('project', project.id)).toEqual([])
  expect(await account(bots.token.user_id, bots.token.token)).toEqual([null, 401])
  expect((await world.root.get(`/users/${bots.account.id}`)).status).toBe(404)
  // What had invited the group knows of it no more.
  expect((await ana.get(`/groups/${wanted}`)).body.shared_with_groups).toEqual([])
})
