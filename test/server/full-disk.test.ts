import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mountSmallDisk, type SmallDisk } from '../../scripts/torture/disk/small-disk.ts'
import {
  type ClientFolders,
  gitClient,
  openClientFolders,
  runGitClient,
} from '../support/git-client.ts'
import { isThere } from '../support/needed.ts'
import { cases } from '../support/runs.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'

const token = 'root-token-of-this-test'
const api = '/api/v4/projects/root%2Fdemo'
let disk: SmallDisk
let folders: ClientFolders
let source = ''
let server: ServerProcess

async function start(): Promise<void> {
  server = await startServerProcess(join(disk.folder, 'data'), { GITSTEAD_DRAIN_TIME: '2s' })
}

async function ask(path: string, body?: object, method = body ? 'POST' : 'GET'): Promise<Response> {
  return await fetch(server.url + path, {
    method,
    headers: { 'PRIVATE-TOKEN': token, 'Content-Type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
}

const remote = () => `${server.url.replace('://', `://root:${token}@`)}/root/demo.git`

/** What people read most; the last ones fill what is remembered in the database. */
const reads = [
  '/api/v4/projects',
  '/api/v4/user',
  api,
  `${api}/repository/tree?recursive=true`,
  `${api}/repository/commits?with_stats=true`,
  `${api}/repository/contributors`,
  `${api}/repository/branches`,
  `${api}/repository/compare?from=main&to=main`,
  `${api}/repository/archive.tar.gz`,
  `${api}/repository/files/README.md/raw?ref=main`,
  `${api}/issues`,
  `${api}/merge_requests`,
  `${api}?statistics=true`,
  '/api/v4/events',
  '/api/v4/search?scope=projects&search=demo',
  '/-/health',
  '/-/readiness',
]

const writes: [string, object, string?][] = [
  [`${api}/issues`, { title: 'one' }],
  [`${api}/labels`, { name: 'bug', color: '#ff0000' }],
  [`${api}/repository/files/new.txt`, { branch: 'main', content: 'x', commit_message: 'new' }],
  [`${api}/repository/branches?branch=two&ref=main`, {}],
  [`${api}/snippets`, { title: 's', file_name: 'a', content: 'b', visibility: 'private' }],
  ['/api/v4/projects', { name: 'other' }],
]

async function readAll(): Promise<[string, number][]> {
  const seen: [string, number][] = []
  for (const path of reads) {
    const reply = await ask(path)
    await reply.arrayBuffer()
    seen.push([path, reply.status])
  }
  return seen
}

const answered = reads.map((path) => [path, 200])
const tipOf = async (branch: string) =>
  (
    (await (await ask(`${api}/repository/branches/${branch}`)).json()) as {
      commit?: { id: string }
    }
  ).commit?.id

/** What is refused so often in a row, with names that stand all over the index, finds no page in the log any more. */
const REFUSALS = 60

/**
 * The database's log is written from its beginning again where a checkpoint has freed it, also on a full disk. Small writes
 * use that up, so that every other needs room on the disk.
 */
async function useUpLog(): Promise<void> {
  let refused = 0
  for (let at = 0; at < 3000; at += 1) {
    const reply = await ask(`${api}/labels`, {
      name: `${String.fromCharCode(97 + (at % 26))} filler ${at} ${Date.now()}`,
      color: '#ff0000',
    })
    await reply.arrayBuffer()
    if (reply.status === 507) {
      refused += 1
      if (refused === REFUSALS) return
      continue
    }
    refused = 0
    expect(reply.status).toBe(201)
  }
  throw new Error('the full disk went on taking labels')
}

// Elsewhere than in CI it is left out where this user may not mount a file system.
const folder = mkdtempSync(join(tmpdir(), 'gitstead-full-'))
const mounted = mountSmallDisk(join(folder, 'disk'), 64)
if (!mounted) rmSync(folder, { recursive: true })
isThere('the right to mount a tmpfs', mounted !== undefined)

describe.skipIf(!mounted)('a disk that is full', () => {
  beforeAll(async () => {
    if (!mounted) return
    disk = mounted
    folders = openClientFolders()
    source = await folders.repository()
    await start()
    await gitClient(source, ['push', '-q', remote(), 'main'])
  }, 120_000)
  afterAll(async () => {
    server?.process.kill('SIGKILL')
    await folders?.clear()
    disk?.unmount()
    rmSync(folder, { recursive: true, force: true })
  }, 60_000)

  test('answers reads and clones, refuses writes with 507 and one sentence, and nothing is half written', async () => {
    expect(await readAll()).toEqual(answered)
    const tip = await tipOf('main')
    await disk.fill(0)
    expect(await readAll()).toEqual(answered)
    await useUpLog()
    await gitClient(await folders.folder(), ['clone', '-q', '--bare', remote(), 'copy.git'])
    for (const [path, body, method] of writes) {
      const reply = await ask(path, body, method)
      expect([path, reply.status, await reply.json()]).toEqual([
        path,
        507,
        {
          message: expect.stringMatching(
            /^507 Insufficient Storage - The disk of the server is full/,
          ),
        },
      ])
    }
    expect(await tipOf('main')).toBe(tip)
    expect(await (await ask(`${api}/issues`)).json()).toEqual([])
    const metrics = await (await ask('/-/metrics')).text()
    expect(metrics).toMatch(/^gitstead_data_free_bytes 0$/m)
    expect(metrics).toMatch(/^gitstead_http_requests_total\{method="POST",status="507"\} \d+$/m)
    expect(server.said()).toContain('full')
  }, 120_000)

  test('refuses a push with a line that says why, and uploads too', async () => {
    await gitClient(source, ['commit', '-q', '--allow-empty', '-m', 'More'])
    const tip = await tipOf('main')
    const run = await runGitClient(source, ['push', remote(), 'main'])
    expect(run.code).not.toBe(0)
    expect(run.stderr).toMatch(/disk of the server is full|No space left on device|507/)
    expect(await tipOf('main')).toBe(tip)
    const form = new FormData()
    form.set('file', new Blob(['x'.repeat(300_000)]), 'a.txt')
    const reply = await fetch(`${server.url}${api}/uploads`, {
      method: 'POST',
      headers: { 'PRIVATE-TOKEN': token },
      body: form,
    })
    expect(reply.status).toBe(507)
    expect(readdirSync(join(disk.folder, 'data/tmp'))).toEqual([])
  }, 60_000)

  test('lets a server that was stopped or killed start, and serve reads', async () => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const gone = new Promise((resolve) => server.process.once('exit', resolve))
      server.process.kill(signal)
      await gone
      await disk.fill(0)
      await start()
      expect(await readAll()).toEqual(answered)
      await useUpLog()
    }
  }, 180_000)

  test('once there is room everything goes on by itself, time and again', async () => {
    const times = cases(3, 10)
    for (let time = 1; time <= times; time++) {
      await disk.free()
      await expect
        .poll(async () => (await ask(`${api}/issues`, { title: `issue ${time}` })).status, {
          timeout: 10_000,
        })
        .toBe(201)
      await gitClient(source, ['commit', '-q', '--allow-empty', '-m', `Round ${time}`])
      await gitClient(source, ['push', '-q', remote(), 'main'])
      const file = { branch: `b${time}`, start_branch: 'main', content: 'x', commit_message: 'x' }
      expect((await ask(`${api}/repository/files/f${time}`, file)).status).toBe(201)
      await disk.fill(0)
      const late = { ...file, branch: `none${time}` }
      expect((await ask(`${api}/repository/files/late`, late)).status).toBe(507)
      expect(await tipOf('main')).toBe(await gitClient(source, ['rev-parse', 'HEAD']))
    }
    await disk.free()
    const issues = (await (await ask(`${api}/issues?per_page=100`)).json()) as { title: string }[]
    const made = Array.from({ length: times }, (_, at) => `issue ${times - at}`)
    expect(issues.map(({ title }) => title).filter((title) => title !== 'one')).toEqual(made)
    await expect
      .poll(async () => await (await ask('/-/metrics')).text(), { timeout: 60_000, interval: 500 })
      .toMatch(/^gitstead_tasks\{state="dead"\} 0$/m)
    expect(server.process.exitCode).toBeNull()
  }, 240_000)
})
