import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { flushPacket, packet } from '../../src/transport/pkt-line.ts'
import {
  type ClientFolders,
  commitFile,
  gitClient,
  makeProject,
  openClientFolders,
  runGitClient,
  type TestProject,
} from '../support/git-client.ts'
import { type Caller, useWorld } from '../support/world.ts'
import { pushBody, sendPush, sendRaw } from './raw-push.ts'

/** Faults 24: names of branches that are valid and odd work everywhere, and are never options or other names. */
const world = useWorld({}, { background: false })
let folders: ClientFolders
let ana: Caller
let project: TestProject
let source: string
let ids: { readonly base: string; readonly tip: string }

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  project = await makeProject(world, ana, 'odd')
  source = await folders.repository()
  const base = await gitClient(source, ['rev-parse', 'HEAD'])
  const tip = await commitFile(source, 'file.txt', 'odd\n', 'Odd')
  ids = { base, tip }
  await gitClient(source, [
    'push',
    '-q',
    project.url(ana),
    `${base}:refs/heads/main`,
    'main:refs/heads/keep',
  ])
})
afterAll(() => folders.clear())

const api = () => `/projects/${project.id}/repository`

/** Twins that only some file systems and databases tell apart. */
const NFC = 'caf\u00e9'
const NFD = 'cafe\u0301'
const odd = [
  '@',
  'A',
  'a',
  NFC,
  NFD,
  '日本語/支線',
  '😀',
  'with"quote',
  "it's",
  '$(touch$IFS.pwned)',
  '`touch$IFS.pwned`',
  ';touch$IFS.pwned',
  '|pwned',
  '&pwned',
  '<b>bold</b>',
  '#1',
  '%2F',
  'a%20b',
  '100%',
  'plus+plus',
  'semi;colon',
  'comma,comma',
  'equal=sign',
  '!important',
  'refs',
  'dots.in.name',
  'very/deep/'.repeat(20).slice(0, -1),
  'x'.repeat(240),
]

describe.each(odd)('a branch %j', (name) => {
  const ref = encodeURIComponent(name)

  test('is pushed, read in each way there is, cloned and deleted', async () => {
    const pushed = await sendPush(project.url(ana), [[`refs/heads/${name}`, ids.tip]])
    expect([pushed.status, pushed.text]).toEqual([
      200,
      expect.stringContaining(`ok refs/heads/${name}\n`),
    ])
    const branch = await ana.get(`${api()}/branches/${ref}`)
    expect([branch.status, branch.body.name, branch.body.commit?.id]).toEqual([200, name, ids.tip])
    const [newest] = (await ana.get(`${api()}/commits?ref_name=${ref}&per_page=1`)).body
    expect(newest.id).toBe(ids.tip)
    const file = await ana.get(`${api()}/files/file.txt/raw?ref=${ref}`)
    expect([file.status, file.body]).toEqual([200, 'odd\n'])
    const full = await ana.get(
      `${api()}/files/file.txt/raw?ref=${encodeURIComponent(`refs/heads/${name}`)}`,
    )
    expect(full.status).toBe(200)
    const compared = await ana.get(
      `${api()}/compare?from=main&to=${encodeURIComponent(`refs/heads/${name}`)}`,
    )
    expect([compared.status, compared.body.commits?.length]).toEqual([200, 1])
    const found = await ana.get(`${api()}/branches?search=${encodeURIComponent(`^${name}$`)}`)
    expect(found.body.map((one: { name: string }) => one.name)).toEqual([name])
    expect((await ana.delete(`${api()}/branches/${ref}`)).status).toBe(204)
    expect((await ana.get(`${api()}/branches/${ref}`)).status).toBe(404)
    expect(existsSync(join(project.repository, 'pwned'))).toBe(false)
  })
})

test('all of them arrive in one push, are cloned as they are, and go in one push', async () => {
  const folder = await folders.folder()
  await gitClient(folder, ['init', '-q', '--bare', 'from'])
  const from = join(folder, 'from')
  await gitClient(from, ['fetch', '-q', project.url(ana), 'keep'])
  for (const name of odd) await gitClient(from, ['update-ref', `refs/heads/${name}`, ids.tip])
  await gitClient(from, ['push', '-q', project.url(ana), 'refs/heads/*:refs/heads/*'])
  await gitClient(folder, ['clone', '-q', '--mirror', project.url(ana), 'copy'])
  const listed = await gitClient(join(folder, 'copy'), ['for-each-ref', '--format=%(refname)'])
  const names = [...odd, 'keep', 'main'].map((name) => `refs/heads/${name}`)
  expect(new Set(listed.split('\n'))).toEqual(new Set(names))
  const gone = odd.map((name) => `:refs/heads/${name}`)
  await gitClient(from, ['push', '-q', project.url(ana), ...gone])
  const left = await gitClient(project.repository, ['for-each-ref', '--format=%(refname)'])
  expect(left).toBe('refs/heads/keep\nrefs/heads/main')
  expect(existsSync(join(project.repository, 'pwned'))).toBe(false)
})

describe('a name that git takes, and that looks like an option', () => {
  test.each(['-x', '-', '--upload-pack=touch$IFS.pwned', '--output=pwned'])(
    '%s is pushed and cloned, and is no option to anything that is asked about it',
    async (name) => {
      const full = `refs/heads/${name}`
      const pushed = await sendPush(project.url(ana), [[full, ids.tip]])
      expect(pushed.text).toContain(`ok ${full}`)
      const ref = encodeURIComponent(name)
      for (const path of [
        `branches/${ref}`,
        `tree?ref=${ref}`,
        `commits?ref_name=${ref}`,
        `commits/${ref}`,
        `files/file.txt/raw?ref=${ref}`,
        `archive.tar?sha=${ref}`,
        `compare?from=main&to=${ref}`,
        `merge_base?refs[]=main&refs[]=${ref}`,
        `contributors?ref=${ref}`,
      ]) {
        const { status } = await ana.get(`${api()}/${path}`)
        expect([path, status >= 400 && status < 500]).toEqual([path, true])
      }
      for (const [path, body] of [
        ['branches', { branch: `copy-of${name.length}`, ref: name }],
        ['tags', { tag_name: `copy-of${name.length}`, ref: name }],
        ['branches', { branch: name, ref: 'keep' }],
        ['tags', { tag_name: name, ref: 'keep' }],
      ] as const) {
        const { status } = await ana.post(`${api()}/${path}`, body)
        expect([path, status >= 400 && status < 500]).toEqual([path, true])
      }
      // Under its full name it is what it is.
      const whole = await ana.get(`${api()}/files/file.txt/raw?ref=${encodeURIComponent(full)}`)
      expect([whole.status, whole.body]).toEqual([200, 'odd\n'])
      const gone = `${ids.tip} ${'0'.repeat(40)} ${full}\0report-status\n`
      const body = Buffer.concat([packet(gone), flushPacket])
      expect((await sendRaw(project.url(ana), body)).text).toContain(`ok ${full}`)
      expect(existsSync(join(project.repository, 'pwned'))).toBe(false)
      expect(existsSync('pwned')).toBe(false)
    },
  )
})

test('two that differ in case, or in how a letter is written, are two', async () => {
  for (const [one, other] of [
    ['Case', 'case'],
    [NFC, NFD],
  ] as const) {
    await sendPush(project.url(ana), [[`refs/heads/${one}`, ids.base]])
    await sendPush(project.url(ana), [[`refs/heads/${other}`, ids.tip]])
    const tips = []
    for (const name of [one, other])
      tips.push((await ana.get(`${api()}/branches/${encodeURIComponent(name)}`)).body.commit.id)
    expect(tips).toEqual([ids.base, ids.tip])
    expect((await ana.delete(`${api()}/branches/${encodeURIComponent(one)}`)).status).toBe(204)
    expect((await ana.get(`${api()}/branches/${encodeURIComponent(other)}`)).status).toBe(200)
    await ana.delete(`${api()}/branches/${encodeURIComponent(other)}`)
  }
})

describe('a name that is none', () => {
  test.each([
    'a b',
    'a..b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a\\b',
    'a@{1}',
    '.a',
    'a/.b',
    'a.lock',
    'a.lock/b',
    'a/',
    '/a',
    'a//b',
    'a.',
    'tab\there',
    'bell\u0007',
    'del\u007f',
    '',
  ])('%j is refused by a push and by the API alike, and makes nothing', async (name) => {
    const full = `refs/heads/${name}`
    const pushed = await sendRaw(project.url(ana), pushBody([[full, ids.tip]]))
    expect([200, 400]).toContain(pushed.status)
    expect(pushed.text).not.toContain(`ok ${full}`)
    const made = await ana.post(`${api()}/branches`, { branch: name, ref: 'keep' })
    expect([name, made.status]).toEqual([name, 400])
    const commit = await ana.post(`${api()}/commits`, {
      branch: name,
      start_branch: 'main',
      commit_message: 'x',
      actions: [{ action: 'create', file_path: 'x', content: 'x' }],
    })
    expect([name, commit.status]).toEqual([name, 400])
    const refs = await gitClient(project.repository, [
      'for-each-ref',
      '--format=%(refname)',
      'refs/heads',
    ])
    expect(refs.split('\n')).toEqual(['refs/heads/keep', 'refs/heads/main'])
  })

  test('that is longer than a file name is refused in words', async () => {
    const long = 'y'.repeat(300)
    const { text } = await sendPush(project.url(ana), [[`refs/heads/${long}`, ids.tip]])
    expect(text).not.toContain(`ok refs/heads/${long}`)
    expect(text).toContain('ng refs/heads/yyy')
    const made = await ana.post(`${api()}/branches`, { branch: long, ref: 'keep' })
    expect(made.status).toBe(400)
  })
})

describe('a branch below or above another', () => {
  test('is refused over git and by the API, whichever was there first, and nothing changes', async () => {
    await sendPush(project.url(ana), [['refs/heads/dir', ids.tip]])
    const below = await sendPush(project.url(ana), [['refs/heads/dir/file', ids.tip]])
    expect(below.text).toMatch(/ng refs\/heads\/dir\/file /)
    const made = await ana.post(`${api()}/branches`, { branch: 'dir/file', ref: 'main' })
    expect([made.status >= 400 && made.status < 500, typeof made.body.message]).toEqual([
      true,
      'string',
    ])
    await ana.delete(`${api()}/branches/dir`)
    await sendPush(project.url(ana), [['refs/heads/dir/file', ids.tip]])
    const above = await sendPush(project.url(ana), [['refs/heads/dir', ids.tip]])
    expect(above.text).toMatch(/ng refs\/heads\/dir /)
    expect((await ana.post(`${api()}/branches`, { branch: 'dir', ref: 'main' })).status).toBe(400)
    expect((await ana.get(`${api()}/branches/dir%2Ffile`)).body.commit.id).toBe(ids.tip)
    await ana.delete(`${api()}/branches/dir%2Ffile`)
    // Once it is gone its folder is in nobody's way.
    const again = await sendPush(project.url(ana), [['refs/heads/dir', ids.tip]])
    expect(again.text).toContain('ok refs/heads/dir\n')
    await ana.delete(`${api()}/branches/dir`)
  })
})

describe('a clone of a part', () => {
  test.each([
    ['blob:none', 1],
    ['blob:limit=1', 1],
    ['blob:limit=1k', 3],
    ['tree:0', 0],
  ])(
    'by the filter %s brings no more than that, and fetches the rest when it is needed',
    async (filter, most) => {
      const folder = await folders.folder()
      const args = [
        'clone',
        '-q',
        '--bare',
        `--filter=${filter}`,
        '--branch=keep',
        '--single-branch',
      ]
      await gitClient(folder, [...args, project.url(ana), 'part'])
      const part = join(folder, 'part')
      const blobs = ['cat-file', '--batch-all-objects', '--batch-check=%(objecttype)']
      const kinds = (await gitClient(part, blobs)).split('\n')
      expect(kinds.filter((kind) => kind === 'blob').length).toBeLessThanOrEqual(most)
      expect(kinds.filter((kind) => kind === 'commit')).toHaveLength(2)
      expect(await gitClient(part, ['show', 'keep:file.txt'])).toBe('odd')
    },
  )

  test('by a filter that nobody knows is refused in words', async () => {
    const folder = await folders.folder()
    const run = await runGitClient(folder, [
      'clone',
      '-q',
      '--filter=sparse:oid=main:x',
      project.url(ana),
      'part',
    ])
    expect(run.code).not.toBe(0)
    expect(run.stderr).not.toMatch(/500|The server failed/)
  })

  test('of a depth, since a day, or without a branch, has just those commits', async () => {
    const count = async (...args: string[]) => {
      const folder = await folders.folder()
      const base = ['clone', '-q', '--bare', '--no-local', '--branch=keep', '--single-branch']
      await gitClient(folder, [...base, ...args, project.url(ana), 'part'])
      return await gitClient(join(folder, 'part'), ['rev-list', '--count', 'keep'])
    }
    expect(await count('--depth=1')).toBe('1')
    expect(await count('--depth=2')).toBe('2')
    expect(await count('--shallow-since=2001-01-01')).toBe('2')
    expect(await count('--shallow-exclude=main')).toBe('1')
  })
})
