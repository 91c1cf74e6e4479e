import { beforeAll, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let at: string
let group: string

beforeAll(async () => {
  at = `/projects/${(await createProject(ana, 'p')).id}`
  group = `/groups/${(await createGroup(ana, 'g')).id}`
})

const urls = { link_url: 'http://a.example', image_url: 'http://a.example' }
const deployers = { deploy_access_levels: [{ access_level: 40 }] }

test.each<[string, (of: string) => Promise<string>]>([
  ['a badge', async (of) => `/badges/${(await ana.post(`${of}/badges`, urls)).body.id}`],
  ['a protected branch', async (of) => made(of, '/protected_branches', 'b', {})],
  [
    'a protected environment',
    async (of) => made(of, '/protected_environments', 'production', deployers),
  ],
])('%s that changed since the caller looked is kept', async (_, make) => {
  for (const of of [at, group]) await keepsChanged(`${of}${await make(of)}`)
})

test('a protected tag that changed since the caller looked is kept', async () => {
  await keepsChanged(`${at}${await made(at, '/protected_tags', 't', {})}`)
})

test('a pipeline and an approval rule that changed since the caller looked are kept', async () => {
  const config = { branch: 'main', content: 'a:\n  script: x\n', commit_message: 'm' }
  await ana.post(`${at}/repository/files/.svc-ci.yml`, config)
  const pipeline = await ana.post(`${at}/pipeline`, { ref: 'main' })
  await keepsChanged(`${at}/pipelines/${pipeline.body.id}`)
  const rule = await ana.post(`${at}/approval_rules`, { name: 'r', approvals_required: 1 })
  await keepsChanged(`${at}/approval_rules/${rule.body.id}`)
})

async function made(of: string, path: string, name: string, more: object): Promise<string> {
  expect((await ana.post(`${of}${path}`, { name, ...more })).status).toBe(201)
  return `${path}/${name}`
}

async function keepsChanged(one: string): Promise<void> {
  const before = { 'If-Unmodified-Since': 'Mon, 04 May 2026 09:59:59 GMT' }
  const refused = await ana.delete(one, undefined, { headers: before })
  expect([refused.status, refused.body]).toEqual([412, { message: '412 Precondition Failed' }])
  const since = { 'If-Unmodified-Since': 'Mon, 04 May 2026 10:00:00 GMT' }
  expect((await ana.delete(one, undefined, { headers: since })).status).toBeLessThan(300)
  expect((await ana.get(one)).status).toBe(404)
}
