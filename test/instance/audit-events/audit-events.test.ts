import { beforeAll, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let projectId: number
beforeAll(async () => {
  projectId = (await createProject(ana, 'p')).id
})

test('what was done to a project is listed with who did it, and never with a secret', async () => {
  const made = await ana.post(`/projects/${projectId}/access_tokens`, {
    name: 't',
    scopes: ['api'],
  })
  const deploy = await ana.post(`/projects/${projectId}/deploy_tokens`, {
    name: 'd',
    scopes: ['read_repository'],
  })
  const list = (await ana.get(`/projects/${projectId}/audit_events`)).body
  expect(list.map((event: { event_name: string }) => event.event_name)).toEqual(
    expect.arrayContaining(['token_created', 'deploy_token_created']),
  )
  expect(list[0]).toMatchObject({
    author_id: ana.id,
    entity_type: 'Project',
    entity_id: projectId,
    details: { author_name: 'ana', ip_address: expect.any(String) },
  })
  const text = JSON.stringify(await world.ctx.db.selectFrom('audit_events').selectAll().execute())
  for (const secret of [made.body.token, deploy.body.token]) expect(text).not.toContain(secret)
  const one = await ana.get(`/projects/${projectId}/audit_events/${list[0].id}`)
  expect(one.body).toEqual(list[0])
})

test('the trail of the instance is for administrators', async () => {
  expect((await ana.get('/audit_events')).status).toBe(403)
  const { body } = await world.root.get('/audit_events?entity_type=User&per_page=100')
  expect(body.some((event: { event_name: string }) => event.event_name === 'user_created')).toBe(
    true,
  )
  const stranger = await world.user('stranger')
  expect((await stranger.get(`/projects/${projectId}/audit_events`)).status).toBe(404)
  expect((await world.root.get(`/audit_events/${body[0].id}`)).body).toEqual(body[0])
  expect((await world.root.get('/audit_events?entity_id=1')).status).toBe(400)
})

test('keyset pages yield each event once while more are added', async () => {
  for (let n = 0; n < 7; n++)
    await ana.post(`/projects/${projectId}/deploy_tokens`, {
      name: `${n}`,
      scopes: ['read_registry'],
    })
  const all = (await world.root.get('/audit_events?per_page=100')).body.map(
    (e: { id: number }) => e.id,
  )
  const seen: number[] = []
  let path: string | undefined = '/audit_events?pagination=keyset&order_by=id&sort=desc&per_page=3'
  while (path) {
    const reply = await world.root.get(path)
    seen.push(...reply.body.map((event: { id: number }) => event.id))
    await ana.post(`/projects/${projectId}/deploy_tokens`, {
      name: 'more',
      scopes: ['read_registry'],
    })
    path = /<[^>]*\/api\/v4([^>]*)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1]
  }
  expect(seen).toEqual(all)
})

test('acting for somebody else is noted under the name of who does', async () => {
  const headers = { Sudo: 'ana' }
  await world.root.post('/user/emails', { email: 'sudo@example.org' }, { headers })
  const [event] = (await world.root.get(`/audit_events?entity_type=User&entity_id=${ana.id}`)).body
  expect(event).toMatchObject({ event_name: 'email_created', author_id: world.root.id })
})

test('approval rules are in the trail', async () => {
  const rules = `/projects/${projectId}/approval_rules`
  const made = await ana.post(rules, { name: 'two eyes', approvals_required: 1 })
  await ana.put(`${rules}/${made.body.id}`, { approvals_required: 2 })
  await ana.delete(`${rules}/${made.body.id}`)
  const list = (await ana.get(`/projects/${projectId}/audit_events?per_page=100`)).body
  const names = list.map((event: { event_name: string }) => event.event_name)
  expect(names).toEqual(
    expect.arrayContaining([
      'approval_rule_created',
      'approval_rule_updated',
      'approval_rule_deleted',
    ]),
  )
})

test('the trail is exported as a table, the oldest first, that no spreadsheet runs', async () => {
  const [known] = await world.ctx.db.selectFrom('audit_events').selectAll().execute()
  const { id: _, ...row } = known ?? expect.fail()
  const details = JSON.stringify({ author_name: '=HYPERLINK("a"), "b"' })
  const odd = { ...row, details, entity_type: 'Project' as const }
  await world.ctx.db.insertInto('audit_events').values(odd).execute()
  expect((await ana.get('/audit_events/export')).status).toBe(403)
  const reply = await world.root.get('/audit_events/export?entity_type=Project')
  expect([reply.status, reply.headers.get('content-type')]).toEqual([
    200,
    'text/csv; charset=utf-8',
  ])
  const lines = String(reply.body).split('\r\n')
  expect(lines[0]).toBe(
    'id,created_at,author_id,author_name,ip_address,event_name,entity_type,entity_id,details',
  )
  const ids = lines.slice(1, -1).map((line) => Number(line.split(',')[0]))
  expect(ids).toEqual([...ids].sort((one, other) => one - other))
  const total = (await world.root.get('/audit_events?entity_type=Project&per_page=100')).body.length
  expect(ids).toHaveLength(total)
  expect(String(reply.body)).toContain(`"'=HYPERLINK(""a""), ""b"""`)
})
