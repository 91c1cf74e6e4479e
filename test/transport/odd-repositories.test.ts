import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

/** Faults 11 and 12: repositories that are whole and odd are served, broken ones hurt nobody else. */
const world = useWorld({}, { background: false })
let folders: ClientFolders
let ana: Caller
let source: string
let tip: string
let sound: TestProject

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  source = await folders.repository()
  tip = await commitFile(source, 'more', 'more', 'More')
  sound = await makeProject(world, ana, 'sound', { from: source })
})
afterAll(() => folders.clear())

const clone = async (project: TestProject, ...args: string[]) => {
  const folder = await folders.folder()
  const run = await runGitClient(folder, ['clone', ...args, project.url(ana), 'copy'])
  return { ...run, folder: join(folder, 'copy') }
}

async function expectOthersServed(): Promise<void> {
  expect((await ana.get(`/projects/${sound.id}/repository/tree`)).body).toHaveLength(2)
  expect((await clone(sound, '-q', '--bare')).code).toBe(0)
}

describe('a HEAD that leads to no branch', () => {
  let project: TestProject
  beforeAll(async () => {
    project = await makeProject(world, ana, 'headless', { from: source })
    await gitClient(project.repository, ['symbolic-ref', 'HEAD', 'refs/heads/none'])
  })

  test('is no branch in any list, and the branches there are can be cloned', async () => {
    const listed = await gitClient(source, ['ls-remote', project.url(ana)])
    expect(listed).toContain(`${tip}\trefs/heads/main`)
    expect(listed).not.toMatch(/\tHEAD$/m)
    const whole = await clone(project)
    expect(whole.code).toBe(0)
    const one = await clone(project, '-q', '--branch=main')
    expect(await gitClient(one.folder, ['rev-parse', 'HEAD'])).toBe(tip)
  })

  test('keeps nothing from being read by name, and is none to ask for', async () => {
    const api = `/projects/${project.id}/repository`
    expect((await ana.get(`${api}/tree?ref=main`)).body).toHaveLength(2)
    expect((await ana.get(`${api}/branches`)).body).toHaveLength(1)
    expect((await ana.get(`${api}/commits/HEAD`)).status).toBe(404)
    const pushed = await runGitClient(source, ['push', project.url(ana), 'main:refs/heads/none'])
    expect(pushed.code).toBe(0)
    expect((await ana.get(`${api}/commits/HEAD`)).body.id).toBe(tip)
  })
})

describe('an empty repository', () => {
  test('is read as one without anything, by the API and by git', async () => {
    const project = await makeProject(world, ana, 'empty')
    const api = `/projects/${project.id}/repository`
    for (const path of ['commits', 'branches', 'tags'])
      expect([path, (await ana.get(`${api}/${path}`)).body]).toEqual([path, []])
    for (const path of [
      'tree',
      'archive.tar.gz',
      'files/a/raw?ref=main',
      'commits/main',
      'branches/main',
    ])
      expect([path, (await ana.get(`${api}/${path}`)).status]).toEqual([path, 404])
    const copy = await clone(project)
    expect([copy.code, copy.stderr]).toEqual([0, expect.stringContaining('empty repository')])
    expect(await gitClient(copy.folder, ['symbolic-ref', 'HEAD'])).toBe('refs/heads/main')
  })
})

describe('a repository that borrows from one that is gone', () => {
  test('is served from what it has itself, and the others are left alone', async () => {
    const project = await makeProject(world, ana, 'borrower', { from: source })
    const info = join(project.repository, 'objects', 'info')
    mkdirSync(info, { recursive: true })
    writeFileSync(join(info, 'alternates'), '/nowhere/at/all/objects\n')
    const api = `/projects/${project.id}/repository`
    expect((await ana.get(`${api}/tree`)).body).toHaveLength(2)
    expect((await clone(project, '-q')).code).toBe(0)
    const pushed = await runGitClient(source, ['push', '-q', project.url(ana), 'main:refs/heads/x'])
    expect(pushed.code).toBe(0)
    expect((await ana.get(`${api}/branches/x`)).body.commit.id).toBe(tip)
  })
})

describe('a ref to an object that is not there', () => {
  test('fails where it is asked for, and nowhere else', async () => {
    const project = await makeProject(world, ana, 'broken', { from: source })
    const file = join(project.repository, 'refs', 'heads', 'lost')
    mkdirSync(join(project.repository, 'refs', 'heads'), { recursive: true })
    writeFileSync(file, `${'d'.repeat(40)}\n`)
    const api = `/projects/${project.id}/repository`
    expect((await ana.get(`${api}/branches/main`)).body.commit.id).toBe(tip)
    expect((await ana.get(`${api}/tree?ref=main`)).body).toHaveLength(2)
    for (const path of [
      'branches/lost',
      'tree?ref=lost',
      'commits?ref_name=lost',
      'archive.tar?sha=lost',
    ]) {
      const { status, body } = await ana.get(`${api}/${path}`)
      expect([path, [404, 500].includes(status)]).toEqual([path, true])
      expect(JSON.stringify(body)).not.toContain(world.folder)
    }
    const one = await clone(project, '-q', '--bare', '--single-branch', '--branch=main')
    expect(one.code).toBe(0)
    const push = (ref: string) => runGitClient(source, ['push', '-q', project.url(ana), ref])
    // git takes nothing while a ref has lost its object, and names the ref.
    const refused = await push('main:refs/heads/fine')
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('bad object refs/heads/lost'),
    ])
    // What is broken can be taken away.
    expect((await push(':refs/heads/lost')).code).toBe(0)
    expect((await push('main:refs/heads/fine')).code).toBe(0)
    expect(
      (await ana.get(`${api}/branches`)).body.map((one: { name: string }) => one.name),
    ).toEqual(['fine', 'main'])
    await expectOthersServed()
  })
})
