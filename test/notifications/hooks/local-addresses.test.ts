import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { openReceiver, type Receiver } from './receiver.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let project: TestProject
let receiver: Receiver

const nothingAllowed = {
  allow_local_requests_from_web_hooks_and_services: false,
  allow_local_requests_from_system_hooks: false,
  outbound_local_requests_whitelist: [],
}

beforeAll(async () => {
  receiver = await openReceiver()
  project = await addProject(world, ana, 'basic')
})
afterAll(() => receiver.close())
afterEach(async () => {
  await set(nothingAllowed)
  receiver.received.length = 0
})

async function set(values: object): Promise<void> {
  const reply = await world.root.put('/application/settings', values)
  expect(reply.status).toBe(200)
  expect(reply.body).toMatchObject(values)
}

const addHook = (url: string) =>
  ana.post(`/projects/${project.id}/hooks`, { url, push_events: true })

test('webhooks reach private networks while administrators let them', async () => {
  const url = `${receiver.url}/in`
  const refused = await addHook(url)
  expect(refused.status).toBe(422)
  expect(refused.body).toEqual({
    error: expect.stringMatching(
      /^Invalid url given: requests to \S+ are not allowed: .*GITSTEAD_OUTBOUND_ALLOW/,
    ),
  })

  await set({ allow_local_requests_from_web_hooks_and_services: true })
  const { id } = (await addHook(url)).body
  const attempt = () => ana.post(`/projects/${project.id}/hooks/${id}/test/push_events`)
  expect((await attempt()).status).toBe(201)
  expect(receiver.received.map((one) => one.url)).toEqual(['/in'])
  // The addresses of a link are never meant: there clouds keep the secrets of a machine.
  expect((await addHook('http://169.254.169.254/latest')).status).toBe(422)
  expect((await addHook('http://[fe80::1]/')).status).toBe(422)

  // Taken back, it holds for hooks that are there already.
  await set(nothingAllowed)
  world.setNow('2026-05-04T10:05:00.000Z')
  expect((await attempt()).status).toBe(422)
  expect(receiver.received).toHaveLength(1)
})

test('a list of places opens these alone, for whatever asks other servers', async () => {
  const { port } = new URL(receiver.url)
  await set({ outbound_local_requests_whitelist: [`127.0.0.1:${port}`, '127.0.0.1:9'] })
  expect((await addHook(`${receiver.url}/listed`)).status).toBe(201)
  expect((await addHook('http://127.0.0.1:1/')).status).toBe(422)
  await createProject(ana, 'imported', { import_url: 'http://127.0.0.1:9/x.git' })
  const elsewhere = await ana.post('/projects', {
    name: 'other',
    import_url: 'http://127.0.0.1:1/',
  })
  expect(elsewhere.status).toBe(400)
})

test.each(['10.0.0.0/99', 'a b', 'http://x', 'host:0', '[::1'])(
  'the list takes no %j, which is no place',
  async (place) => {
    const reply = await world.root.put('/application/settings', {
      outbound_local_requests_whitelist: [place],
    })
    expect(reply.status).toBe(400)
    const { body } = await world.root.get('/application/settings')
    expect(body.outbound_local_requests_whitelist).toEqual([])
  },
)

test('hooks of the system follow a setting of their own', async () => {
  const add = () => world.root.post('/hooks', { url: `${receiver.url}/system` })
  await set({ allow_local_requests_from_web_hooks_and_services: true })
  expect((await add()).status).toBe(422)
  await set({ ...nothingAllowed, allow_local_requests_from_system_hooks: true })
  expect((await add()).status).toBe(201)
  expect((await addHook(`${receiver.url}/in`)).status).toBe(422)
  await createProject(ana, 'seen-by-hooks')
  await world.runTasks()
  expect(receiver.received.map(({ url, body }) => [url, body.event_name])).toContainEqual([
    '/system',
    'project_create',
  ])
})
