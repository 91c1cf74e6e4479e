import { request } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import { useCaller, useWorld } from '../support/world.ts'

const ROUNDS = 15

const world = useWorld()
const ana = useCaller(world, 'ana')
let project: string
beforeAll(async () => {
  const made = await ana.post('/projects', { name: 'demo', initialize_with_readme: true })
  project = `/projects/${made.body.id}`
})

interface Kind {
  readonly path: string
  /** What is sent to make one; its path goes behind the list's. */
  readonly made: Readonly<Record<string, unknown>>
  readonly key?: string
  /** What is sent to it while it is deleted. */
  readonly changes: readonly (readonly [method: string, path: string, body?: object])[]
}

const kinds: readonly Kind[] = [
  {
    path: '/milestones',
    made: { title: 'One' },
    changes: [
      ['PUT', '', { title: 'Two' }],
      ['PUT', '', { state_event: 'close' }],
      ['GET', '/issues'],
    ],
  },
  {
    path: '/labels',
    made: { name: 'one', color: '#ff0000' },
    changes: [
      ['PUT', '', { new_name: 'two' }],
      ['PUT', '', { priority: 1 }],
      ['POST', '/subscribe'],
    ],
  },
  {
    path: '/issues',
    key: 'iid',
    made: { title: 'One' },
    changes: [
      ['PUT', '', { title: 'Two', labels: 'a,b' }],
      ['POST', '/notes', { body: 'text' }],
      ['POST', '/discussions', { body: 'text' }],
      ['POST', '/award_emoji', { name: 'rocket' }],
      ['POST', '/todo'],
      ['POST', '/subscribe'],
      ['POST', '/add_spent_time', { duration: '1h' }],
    ],
  },
  {
    path: '/boards',
    made: { name: 'One' },
    changes: [
      ['PUT', '', { name: 'Two' }],
      ['GET', '/lists'],
    ],
  },
  {
    path: '/hooks',
    made: { url: 'http://hooks.example.com/' },
    changes: [
      ['PUT', '', { url: 'http://hooks.example.com/two' }],
      ['PUT', '/url_variables/key', { value: 'a' }],
      ['PUT', '/custom_headers/key', { value: 'a' }],
    ],
  },
  {
    path: '/snippets',
    made: {
      title: 'One',
      visibility: 'private',
      files: [{ file_path: 'a.txt', content: 'text' }],
    },
    changes: [
      ['PUT', '', { title: 'Two' }],
      ['PUT', '', { files: [{ action: 'update', file_path: 'a.txt', content: 'two' }] }],
      ['GET', '/raw'],
      ['GET', '/files/main/a.txt/raw'],
      ['POST', '/notes', { body: 'text' }],
      ['POST', '/award_emoji', { name: 'rocket' }],
    ],
  },
  {
    path: '/deploy_tokens',
    made: { name: 'One', scopes: ['read_repository'] },
    changes: [['GET', '']],
  },
  {
    path: '/badges',
    made: { link_url: 'http://a.example.com/', image_url: 'http://a.example.com/b.png' },
    changes: [['PUT', '', { name: 'Two' }]],
  },
]

test.each(kinds)(
  'a record of $path that is deleted while it is changed is 404, never a failure',
  async ({ path, made, key = 'id', changes }) => {
    const failed: unknown[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const { body } = await ana.post(`${project}${path}`, made)
      const one = `${project}${path}/${body[key]}`
      const asked = changes.map(([method, below, sent]) => ana.call(method, `${one}${below}`, sent))
      // Each round the deletion comes a little later.
      const deleted = ana.delete(one)
      const late = changes.map(([method, below, sent]) => ana.call(method, `${one}${below}`, sent))
      for (const reply of await Promise.all([...asked, deleted, ...late])) {
        if (reply.status >= 500) failed.push([reply.status, reply.body])
      }
    }
    expect(failed).toEqual([])
  },
  60_000,
)

test('a project that is deleted while the body of a commit arrives is 404', async () => {
  const { body } = await ana.post('/projects', { name: 'slow', initialize_with_readme: true })
  const at = `/projects/${body.id}`
  const text = JSON.stringify({
    branch: 'main',
    commit_message: 'Add a file',
    actions: [{ action: 'create', file_path: 'a.txt', content: 'text' }],
  })
  const sent = request(`${world.url}/api/v4${at}/repository/commits`, {
    method: 'POST',
    headers: {
      'private-token': String(ana.token),
      'content-type': 'application/json',
      'content-length': String(text.length),
      expect: '100-continue',
    },
  })
  sent.flushHeaders()
  const status = new Promise<number | undefined>((resolve, reject) => {
    sent.on('response', (reply) => resolve(reply.resume().statusCode)).on('error', reject)
  })
  // The server asks for the body once it has found what the request is about.
  await new Promise((resolve) => sent.once('continue', resolve))
  expect((await ana.delete(at)).status).toBe(202)
  await world.runTasks()
  expect((await ana.get(at)).status).toBe(404)
  sent.end(text)
  expect(await status).toBe(404)
})

test('a project that is deleted while it is used is 404, never a failure', async () => {
  const failed: unknown[] = []
  for (let round = 0; round < 5; round += 1) {
    const made = await ana.post('/projects', { name: `p${round}`, initialize_with_readme: true })
    const at = `/projects/${made.body.id}`
    await ana.delete(at)
    const asked = [
      ana.post(`${at}/issues`, { title: 'One' }),
      ana.post(`${at}/labels`, { name: 'a', color: '#ff0000' }),
      ana.post(`${at}/repository/branches?branch=b&ref=main`),
      ana.delete(`${at}?permanently_remove=true&full_path=${made.body.path_with_namespace}`),
      ana.post(`${at}/issues`, { title: 'Two' }),
      ana.post(`${at}/milestones`, { title: 'Two' }),
      ana.post(`${at}/repository/tags?tag_name=t&ref=main`),
      ana.get(`${at}/repository/commits`),
      ana.post(`${at}/hooks`, { url: 'http://hooks.example.com/' }),
      ana.post(`${at}/star`),
    ]
    for (const reply of await Promise.all(asked)) {
      if (reply.status >= 500) failed.push([reply.status, reply.body])
    }
  }
  expect(failed).toEqual([])
}, 60_000)
