import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getVisibleProject } from '../../src/access/subjects.ts'
import { makeLog } from '../../src/base/log.ts'
import { storeLfsObject } from '../../src/repositories/lfs/objects.ts'
import { recoverPushes } from '../../src/repositories/refs/journal/recover.ts'
import { projectUpdater } from '../../src/repositories/refs/ref-updater.ts'
import {
  type ClientFolders,
  gitClient,
  makeProject,
  openClientFolders,
  runGitClient,
  type TestProject,
} from '../support/git-client.ts'
import { type Caller, openWorld, type World } from '../support/world.ts'

let world: World
let folders: ClientFolders
let ana: Caller
let lines: string[] = []
beforeAll(async () => {
  const log = makeLog({ level: 'error', write: (line) => void lines.push(line) })
  world = await openWorld({}, { log })
  folders = openClientFolders()
  ana = await world.user('ana')
})
afterAll(async () => {
  await world.close()
  await folders.clear()
})

/** A clone with a few commits on `main` and on `other`, pushed to a new project. */
async function filled(name: string) {
  const work = join(await folders.folder(), 'work')
  mkdirSync(work)
  const git = (...args: string[]) => gitClient(work, args)
  await git('init', '-q', '-b', 'main')
  writeFileSync(join(work, 'a.txt'), 'a\n')
  await git('add', '.')
  await git('commit', '-q', '-m', 'One')
  await git('branch', 'other')
  writeFileSync(join(work, 'b.txt'), `b of ${name}\n`)
  await git('add', '.')
  await git('commit', '-q', '-m', 'Two')
  const project = await makeProject(world, ana, name)
  await git('push', '-q', project.url(ana), 'main', 'other')
  await world.runTasks()
  lines = []
  return { project, work, git, id: (rev: string) => git('rev-parse', rev).then((s) => s.trim()) }
}

/** As a power cut leaves a file that was renamed into its place before its bytes were on the disk. */
function empty(project: TestProject, ref: string): void {
  const path = join(project.repository, ref)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.cut`, '')
  renameSync(`${path}.cut`, path)
}

const said = () => lines.join('')
const read = (project: TestProject, path: string) =>
  ana.get(`/projects/${project.id}/repository/${path}`)
const damage = (what: string) =>
  `The repository is damaged: ${what}. ` +
  'An administrator has to restore it, or somebody who has it has to push it again.'

describe('a ref whose file is empty', () => {
  const what = 'the ref refs/heads/main is empty'

  test('is told by reads of it and by the log, while other branches are read', async () => {
    const { project, id } = await filled('read')
    empty(project, 'refs/heads/main')
    for (const path of ['branches', 'branches/main', 'commits', 'commits?ref_name=main', 'tree']) {
      lines = []
      const { status, body } = await read(project, path)
      expect([path, status, body]).toEqual([path, 500, { message: damage(what) }])
      expect(said()).toContain(what)
    }
    expect((await read(project, 'branches/other')).body.commit.id).toBe(await id('other'))
    expect((await read(project, 'commits?ref_name=other')).body).toHaveLength(1)
    expect((await read(project, 'tree?ref=other')).status).toBe(200)
    const fork = await ana.post(`/projects/${project.id}/fork`, { path: 'lesser', name: 'lesser' })
    expect(fork.status).toBe(500)
  })

  test.each([
    ['version 2', 2],
    ['version 0', 0],
  ])('stops a clone with %s in words', async (_, version) => {
    const { project, work } = await filled(`cloned-${version}`)
    empty(project, 'refs/heads/main')
    const target = join(await folders.folder(), 'copy')
    const asked = ['-c', `protocol.version=${version}`, 'clone', '-q', project.url(ana), target]
    const { code, stderr } = await runGitClient(work, asked)
    expect([code, stderr]).toEqual([128, expect.stringContaining(what)])
    expect(said()).toContain(what)
    if (version === 0) return
    const other = ['fetch', '-q', project.url(ana), 'refs/heads/other']
    expect((await runGitClient(work, other)).code).toBe(0)
  })

  test('stops pushes of other refs in words, and one of its own makes it anew', async () => {
    const { project, work, git, id } = await filled('pushed')
    await gitClient(project.repository, ['pack-refs', '--all'])
    empty(project, 'refs/heads/main')
    const push = (...refs: string[]) =>
      runGitClient(work, ['push', '-q', project.url(ana), ...refs])
    const other = await push('main:refs/heads/new')
    expect([other.code, other.stderr.replaceAll(/\s+/g, ' ')]).toEqual([
      1,
      expect.stringContaining(what),
    ])
    writeFileSync(join(work, 'c.txt'), 'c\n')
    await git('add', '.')
    await git('commit', '-q', '-m', 'Three')
    expect(await push('main')).toMatchObject({ code: 0 })
    expect((await read(project, 'branches/main')).body.commit.id).toBe(await id('main'))
    expect((await read(project, 'commits')).body).toHaveLength(3)
    expect(await gitClient(project.repository, ['fsck', '--full'])).toBe('')
    expect(await push('main:refs/heads/new')).toMatchObject({ code: 0 })
    await git('push', '-q', project.url(ana), ':new')
  })

  test('stays broken after a push of it that is refused', async () => {
    const { project, work, git } = await filled('refused')
    empty(project, 'refs/heads/main')
    await ana.put(`/projects/${project.id}/push_rule`, {})
    await ana.post(`/projects/${project.id}/push_rule`, { commit_message_regex: '^Fine' })
    await git('commit', '-q', '--allow-empty', '-m', 'Bad')
    const { code, stderr } = await runGitClient(work, ['push', '-q', project.url(ana), 'main'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('does not follow the pattern')])
    await expect
      .poll(async () => (await read(project, 'branches/main')).body.message)
      .toBe(damage(what))
  })

  test('keeps no server from its start', async () => {
    const { project } = await filled('started')
    empty(project, 'refs/heads/main')
    const row = await getVisibleProject(world.app.makeCtx(), String(project.id))
    const oldId = '0'.repeat(40)
    const moves = [{ name: 'refs/heads/main', oldId, newId: 'a'.repeat(40) }]
    await projectUpdater(world.ctx, row).open({ via: 'push', moves, options: [] })
    await recoverPushes(world.ctx, '2026-05-04T23:00:00.000Z')
  })
})

describe('an object that is lost', () => {
  function lose(project: TestProject, id: string): void {
    const path = join(project.repository, 'objects', id.slice(0, 2), id.slice(2))
    expect(existsSync(path)).toBe(true)
    rmSync(path)
    world.ctx.git.engine.forget(project.repository)
  }

  test('is named: the blob of a file, for the file, its bytes and a diff', async () => {
    const { project, id } = await filled('blob')
    const blob = await id('main:b.txt')
    lose(project, blob)
    const what = `the blob ${blob} is missing`
    for (const path of ['files/b.txt?ref=main', 'files/b.txt/raw?ref=main']) {
      lines = []
      const { status, body } = await read(project, path)
      expect([path, status, body]).toEqual([path, 500, { message: damage(what) }])
      expect(said()).toContain(what)
    }
    const diff = await read(project, `commits/${await id('main')}/diff`)
    expect([diff.status, diff.body.message]).toEqual([500, expect.any(String)])
    expect((await read(project, 'files/a.txt?ref=main')).status).toBe(200)
    expect((await read(project, 'tree')).body).toHaveLength(2)
  })

  test('comes back with a push that brings it, and with a commit of the API', async () => {
    const { project, work, id } = await filled('again')
    const blob = await id('main:b.txt')
    lose(project, blob)
    expect((await read(project, 'files/b.txt?ref=main')).status).toBe(500)
    expect((await ana.delete(`/projects/${project.id}/protected_branches/main`)).status).toBe(204)
    // Without the branches whose objects a client takes for granted.
    await gitClient(work, ['push', '-q', project.url(ana), '+other:refs/heads/main'])
    await gitClient(work, ['push', '-q', project.url(ana), 'main'])
    expect((await read(project, 'files/b.txt?ref=main')).status).toBe(200)
    expect(await gitClient(project.repository, ['fsck', '--full'])).toBe('')
    const inApi = await filled('by-api')
    lose(inApi.project, await inApi.id('main:b.txt'))
    const made = await ana.post(`/projects/${inApi.project.id}/repository/commits`, {
      branch: 'main',
      commit_message: 'Again',
      actions: [{ action: 'create', file_path: 'again.txt', content: 'b of by-api\n' }],
    })
    expect(made.status).toBe(201)
    expect((await read(inApi.project, 'files/b.txt?ref=main')).status).toBe(200)
  })

  test('is named: the commit of a branch', async () => {
    const { project, id } = await filled('commit')
    const commit = await id('main')
    lose(project, commit)
    for (const path of ['commits?ref_name=main', 'tree?ref=main', 'files/b.txt?ref=main']) {
      const { status, body } = await read(project, path)
      const message = expect.stringMatching(/^The repository is damaged: .* (is|are) missing\. /)
      expect([path, status, body]).toEqual([path, 500, { message }])
    }
    expect((await read(project, 'commits?ref_name=other')).status).toBe(200)
  })
})

const lost =
  'The file is damaged: its content is missing on the server. ' +
  'An administrator has to restore it, or it has to be uploaded again.'
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const lose = (oid: string) => rmSync(world.ctx.files.pathOf(oid))

interface BatchObject {
  readonly error?: { readonly code: number; readonly message: string }
  readonly actions?: Readonly<Record<string, { readonly href: string }>>
}

describe('a file that is lost', () => {
  test('is told of a large file, which the batch asks for again', async () => {
    const project = await makeProject(world, ana, 'large')
    const [oid, size] = [sha256('large'), 5]
    await storeLfsObject(world.ctx, project, { oid, size }, readable('large'))
    lose(oid)
    lines = []
    const at = `/ana/large.git/info/lfs/objects/batch`
    const authorization = `Basic ${Buffer.from(`ana:${ana.token}`).toString('base64')}`
    const batch = async (operation: string) => {
      const reply = await fetch(`${world.url}${at}`, {
        method: 'POST',
        headers: { Authorization: authorization, 'Content-Type': 'application/vnd.git-lfs+json' },
        body: JSON.stringify({ operation, objects: [{ oid, size }] }),
      })
      // As git-lfs reads it.
      return ((await reply.json()) as { objects: BatchObject[] }).objects[0]
    }
    expect((await batch('download'))?.error).toEqual({ code: 500, message: lost })
    expect(said()).toContain(oid)
    expect((await batch('upload'))?.actions?.upload?.href).toContain(`/${oid}/${size}`)
    const folder = world.app.config.vendor.lfsFolders[0]
    const asked = await fetch(`${world.url}/ana/large.git/${folder}/${oid}`, {
      headers: { Authorization: authorization },
    })
    expect([asked.status, await asked.json()]).toEqual([500, { message: lost }])
    await storeLfsObject(world.ctx, project, { oid, size }, readable('large'))
    expect((await batch('upload'))?.actions).toBeUndefined()
    expect((await batch('download'))?.actions?.download?.href).toContain(oid)
  })

  test('is told of packages and uploads, lost or cut off, and not as one that never was', async () => {
    const project = await makeProject(world, ana, 'files')
    const at = `/projects/${project.id}`
    const put = () => ana.put(`${at}/packages/generic/p/1.0/f.bin`, undefined, { raw: 'package' })
    expect((await put()).status).toBe(201)
    const form = new FormData()
    form.append('file', new Blob(['upload of a text']), 'notes.txt')
    const upload = await ana.post(`${at}/uploads`, undefined, { raw: form })
    expect(upload.status).toBe(201)
    for (const text of ['package', 'upload of a text']) lose(sha256(text))
    const uploaded = `${at}/uploads/${upload.body.id}`
    for (const path of [`${at}/packages/generic/p/1.0/f.bin`, uploaded]) {
      lines = []
      const { status, body } = await ana.get(path)
      expect([path, status, body]).toEqual([path, 500, { message: lost }])
      expect(said()).toContain('is missing or cut off')
    }
    await put()
    expect((await ana.get(`${at}/packages/generic/p/1.0/f.bin`)).body).toBe('package')
  })
})

async function* readable(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
