import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { finalizePush, openPush } from '../../src/repositories/refs/journal/record.ts'
import { recoverForgotten } from '../../src/repositories/refs/journal/recover.ts'
import {
  type ClientFolders,
  commitFile,
  gitClient,
  makeProject,
  openClientFolders,
  runGitClient,
} from '../support/git-client.ts'
import { isThere } from '../support/needed.ts'
import { type Caller, openWorld, useWorld } from '../support/world.ts'

const world = useWorld()
let folders: ClientFolders
let ana: Caller

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
})

afterAll(() => folders.clear())

const zero = '0'.repeat(40)

async function pushedProject(name: string) {
  const project = await makeProject(world, ana, name)
  const source = await folders.repository()
  await gitClient(source, ['push', '-q', project.url(ana), 'main'])
  return { project, source, tip: await gitClient(source, ['rev-parse', 'main']) }
}

const pushState = (id: number) =>
  world.ctx.db
    .selectFrom('pushes')
    .innerJoin('ref_moves', 'ref_moves.push_id', 'pushes.id')
    .select(['pushes.state', 'ref_moves.state as move', 'ref'])
    .where('pushes.id', '=', id)
    .orderBy('ref_moves.id')
    .execute()

describe('pushes that stay open', () => {
  test('are finalized by what the refs say once they are forgotten, and not before', async () => {
    const { project, tip } = await pushedProject('forgotten')
    const begun = world.ctx.now()
    const moves = ['one', 'two'].map((name) => ({
      name: `refs/heads/${name}`,
      oldId: zero,
      newId: tip,
    }))
    const id = await openPush(world.ctx, { projectId: project.id }, { via: 'push', moves })
    await gitClient(project.repository, ['update-ref', 'refs/heads/one', tip])
    await recoverForgotten(world.ctx)
    expect((await pushState(id)).map((row) => row.state)).toEqual(['open', 'open'])
    world.setNow(new Date(Date.parse(begun) + 20 * 60_000).toISOString())
    await recoverForgotten(world.ctx)
    expect(await pushState(id)).toEqual([
      { state: 'closed', move: 'moved', ref: 'refs/heads/one' },
      { state: 'closed', move: 'refused', ref: 'refs/heads/two' },
    ])
  })

  test('are finalized once, however often it is tried', async () => {
    const { project, tip } = await pushedProject('once')
    const move = { name: 'refs/heads/x', oldId: zero, newId: tip }
    const id = await openPush(world.ctx, { projectId: project.id }, { via: 'api', moves: [move] })
    await finalizePush(world.ctx, project.id, id, new Set())
    await finalizePush(world.ctx, project.id, id, new Set(['refs/heads/x']))
    expect(await pushState(id)).toEqual([{ state: 'closed', move: 'refused', ref: 'refs/heads/x' }])
  })
})

describe('when somebody else holds the database', () => {
  test('reads go on, and a push waits and goes through', async () => {
    const { project, source } = await pushedProject('busy')
    const other = new Database(join(world.folder, 'gitstead.db'), { timeout: 0 })
    // The server, in this very process, may be writing what follows from the push.
    await expect.poll(() => other.exec('BEGIN IMMEDIATE').inTransaction).toBe(true)
    const pushing = runGitClient(source, ['push', project.url(ana), 'main:waited'])
    await sleep(1500)
    expect(await gitClient(source, ['ls-remote', project.url(ana)])).not.toContain('waited')
    expect((await ana.get(`/projects/${project.id}`)).status).toBe(200)
    other.exec('ROLLBACK')
    other.close()
    expect((await pushing).code).toBe(0)
    expect(await gitClient(source, ['ls-remote', project.url(ana)])).toContain('waited')
  })
})

const mayMount = isThere(
  'the right to mount a tmpfs',
  process.platform === 'linux' && process.getuid?.() === 0,
)

describe.skipIf(!mayMount)('when the disk is full', () => {
  test('a push fails with a reason, no ref moves, nothing is left, and reads go on', async () => {
    const { project, source } = await pushedProject('full')
    const objects = join(project.repository, 'objects')
    const aside = mkdtempSync(join(tmpdir(), 'gitstead-full-'))
    execFileSync('cp', ['-a', `${objects}/.`, aside])
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', objects], { stdio: 'pipe' })
    } catch {
      rmSync(aside, { recursive: true })
      return
    }
    try {
      execFileSync('cp', ['-a', `${aside}/.`, objects])
      await commitFile(source, 'big', randomBytes(3_000_000).toString('base64'), 'Too much')
      const run = await runGitClient(source, ['push', project.url(ana), 'main:big'])
      expect(run.code).toBe(1)
      expect(run.stderr).toMatch(/No space left on device|unpacker error|unpack/)
      const left = readdirSync(objects, { recursive: true, encoding: 'utf8' })
      expect(left.filter((name) => /tmp|incoming/.test(name))).toEqual([])
      expect(await gitClient(source, ['ls-remote', project.url(ana)])).not.toContain('big')
      const folder = await folders.folder()
      await gitClient(folder, ['clone', '-q', project.url(ana), 'copy'])
    } finally {
      execFileSync('umount', [objects])
      mkdirSync(objects, { recursive: true })
      rmSync(aside, { recursive: true })
    }
  })
})

describe('when the server is told to stop', () => {
  test('a push that git has accepted is finalized, and clones are cut after the grace', async () => {
    let reached = () => {}
    const accepted = new Promise<void>((resolve) => {
      reached = resolve
    })
    const other = await openWorld({}, { atStep: (step) => step === 'allowed' && reached() })
    const ben = await other.user('ben')
    const project = await makeProject(other, ben, 'stopped')
    const source = await folders.repository()
    const pushing = runGitClient(source, ['push', project.url(ben), 'main'])
    await accepted
    const begun = performance.now()
    await other.app.close()
    expect(performance.now() - begun).toBeLessThan(6000)
    await pushing
    const database = new Database(join(other.folder, 'gitstead.db'), { readonly: true })
    const states = database.prepare('SELECT state FROM pushes').pluck().all()
    database.close()
    expect(states).toEqual(['closed'])
    expect(await gitClient(project.repository, ['rev-parse', 'main'])).toHaveLength(40)
    rmSync(other.folder, { recursive: true })
  })
})
