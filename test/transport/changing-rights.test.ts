import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { flushPacket, packet } from '../../src/transport/pkt-line.ts'
import {
  type ClientFolders,
  commitFile,
  gitClient,
  makeProject,
  openClientFolders,
  type TestProject,
} from '../support/git-client.ts'
import { type Caller, useWorld } from '../support/world.ts'
import { splitAddress } from './raw-push.ts'

/**
 * A push may take long between its commands and the end of its pack. What its user may do has to hold when the commits
 * are there, not only when the push began.
 */
const world = useWorld({}, { background: false })
let folders: ClientFolders
let ana: Caller
let source: string
let tip: string
let pack: Buffer

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  source = await folders.repository()
  tip = await commitFile(source, 'more', 'more', 'More')
  pack = await packOf(source, tip)
})
afterAll(() => folders.clear())

async function packOf(folder: string, id: string): Promise<Buffer> {
  const { execFileSync } = await import('node:child_process')
  const input = `${id}\n`
  return execFileSync('git', ['pack-objects', '-q', '--revs', '--stdout'], { cwd: folder, input })
}

let count = 0

interface Place {
  readonly project: TestProject
  readonly dev: Caller
  readonly api: string
}

async function place(): Promise<Place> {
  count += 1
  const project = await makeProject(world, ana, `p${count}`)
  await gitClient(source, ['push', '-q', project.url(ana), 'main~1:refs/heads/main'])
  const dev = await world.user(`dev${count}`)
  const api = `/projects/${project.id}`
  const member = { user_id: dev.id, access_level: 30 }
  expect((await ana.post(`${api}/members`, member)).status).toBe(201)
  return { project, dev, api }
}

async function isOpen(project: TestProject): Promise<boolean> {
  const found = await world.ctx.db
    .selectFrom('pushes')
    .select('id')
    .where('project_id', '=', project.id)
    .where('state', '=', 'open')
    .executeTakeFirst()
  return found !== undefined
}

/** Pushes two branches, of which the pack ends only when `meanwhile` is done; gives what the server says. */
async function pushSlowly(
  { project, dev }: Place,
  meanwhile: () => Promise<unknown>,
): Promise<string> {
  const { url, authorization } = splitAddress(project.url(dev))
  const request = httpRequest(`${url}/git-receive-pack`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-git-receive-pack-request',
      Authorization: authorization,
    },
  })
  const zero = '0'.repeat(40)
  request.write(
    Buffer.concat([
      packet(`${zero} ${tip} refs/heads/one\0report-status side-band-64k\n`),
      packet(`${zero} ${tip} refs/heads/two\n`),
      flushPacket,
      pack.subarray(0, 30),
    ]),
  )
  // What is about to move is written down once the push was let in.
  await expect.poll(() => isOpen(project), { timeout: 20_000 }).toBe(true)
  await meanwhile()
  request.end(pack.subarray(30))
  const [response] = await once(request, 'response')
  let text = ''
  for await (const chunk of response) text += String(chunk)
  return text
}

async function branchesOf({ project }: Place): Promise<string[]> {
  const listed = await gitClient(project.repository, ['for-each-ref', '--format=%(refname:short)'])
  return listed.split('\n')
}

describe('a push that takes long', () => {
  test('arrives when nothing happens meanwhile, and when the project gets another name', async () => {
    const here = await place()
    const said = await pushSlowly(here, () => ana.put(here.api, { path: `renamed${count}` }))
    expect(said).toContain('ok refs/heads/one')
    expect(await branchesOf(here)).toEqual(['main', 'one', 'two'])
  })

  test.each<[string, (here: Place) => Promise<unknown>, string]>([
    [
      'its user was removed from the project',
      ({ api, dev }) => ana.delete(`${api}/members/${dev.id}`),
      'SVC: The project could not be found.',
    ],
    [
      'its user may only read now',
      ({ api, dev }) => ana.put(`${api}/members/${dev.id}`, { access_level: 20 }),
      'SVC: You are not allowed to push code to this project.',
    ],
    [
      'the project was archived',
      ({ api }) => ana.post(`${api}/archive`),
      "SVC: You can't push code to an archived project.",
    ],
    [
      'a branch was protected',
      ({ api }) => ana.post(`${api}/protected_branches`, { name: 'two' }),
      'SVC: You are not allowed to create protected branches on this project.',
    ],
    [
      'a rule on messages was set',
      ({ api }) => ana.post(`${api}/push_rule`, { commit_message_regex: '^JIRA-' }),
      "SVC: Commit message does not follow the pattern '^JIRA-'",
    ],
  ])('moves nothing when %s', async (_, meanwhile, reason) => {
    const here = await place()
    const said = await pushSlowly(here, async () => {
      const reply = (await meanwhile(here)) as { status: number }
      expect(reply.status).toBeLessThan(300)
    })
    expect(said).toContain(reason)
    expect(said).toContain('ng refs/heads/one pre-receive hook declined')
    expect(said).toContain('ng refs/heads/two pre-receive hook declined')
    expect(await branchesOf(here)).toEqual(['main'])
    const left = await gitClient(here.project.repository, ['count-objects', '-v'])
    expect(left).toMatch(/^count: 3$/m)
    expect(await isOpen(here.project)).toBe(false)
  })

  test('moves nothing when a branch in its way was made, but for the others', async () => {
    const here = await place()
    const branch = { branch: 'two/below', ref: 'main' }
    const said = await pushSlowly(here, () => ana.post(`${here.api}/repository/branches`, branch))
    expect(said).toContain('ok refs/heads/one')
    expect(said).toMatch(/ng refs\/heads\/two /)
    expect(await branchesOf(here)).toEqual(['main', 'one', 'two/below'])
  })
})
