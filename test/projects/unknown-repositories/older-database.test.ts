import { chmodSync, cpSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openApp } from '../../../src/app.ts'
import { makeConfig } from '../../../src/base/config.ts'
import { makeLog } from '../../../src/base/log.ts'
import type { RepoName } from '../../../src/git/repo-name.ts'
import { removeProject } from '../../../src/projects/projects/tasks.ts'
import { gitstead } from '../../support/command-line.ts'
import { newFolder } from '../../support/database.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let folder = ''
let copy = ''
let lines: string[] = []
let world: World | undefined
beforeEach(() => {
  folder = newFolder()
  copy = join(newFolder(), 'gitstead.db')
  lines = []
})
afterEach(async () => {
  await world?.close()
  world = undefined
  for (const path of [folder, join(copy, '..')]) rmSync(path, { recursive: true, force: true })
})

const log = makeLog({ level: 'warn', write: (line) => void lines.push(line) })
const said = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>)

/** A server on the folder, as it was left. */
async function start(): Promise<World> {
  world = await openWorld({ data: folder }, { log })
  return world
}

const made = (caller: Caller, path: string, body: unknown) =>
  caller.post(path, body).then((reply) => {
    expect([reply.status, JSON.stringify(reply.body)]).toEqual([201, expect.anything()])
    return reply.body
  })
const snippet = { title: 's', files: [{ file_path: 'a.txt', content: 'a' }] }

/** The path of a repository, and the inode of its HEAD, which another one would have after it was made anew. */
async function traceOf({ ctx }: World, name: RepoName) {
  const { path } = ctx.git.open(name)
  return { path, made: (await stat(join(path, 'HEAD'))).ino }
}

describe('a database that is older than the repositories', () => {
  async function restored() {
    const before = await start()
    const ana = await before.user('ana')
    const known = await made(ana, '/projects', { name: 'known', initialize_with_readme: true })
    await before.app.close()
    cpSync(join(folder, 'gitstead.db'), copy)
    const after = await openWorld({ data: folder }, { log })
    const ben = await after.user('ben')
    const late = await made(ben, '/projects', { name: 'late', initialize_with_readme: true })
    await made(ben, `/projects/${late.id}/wikis`, { title: 'home', content: 'late page' })
    const kept = await made(ben, '/snippets', snippet)
    const group = await made(ben, '/groups', { name: 'late', path: 'late' })
    await made(ben, `/groups/${group.id}/wikis`, { title: 'home', content: 'late page' })
    const names: RepoName[] = [
      late.id,
      { kind: 'project_wiki', id: late.id },
      { kind: 'snippet', id: kept.id },
      { kind: 'group_wiki', id: group.id },
    ]
    const lost = await Promise.all(names.map((name) => traceOf(after, name)))
    await after.app.close()
    for (const end of ['', '-wal', '-shm'])
      rmSync(join(folder, `gitstead.db${end}`), { force: true })
    cpSync(copy, join(folder, 'gitstead.db'))
    lines = []
    return { known, late, kept, group, names, lost }
  }

  test('costs none of them: what is new gets ids above theirs, and the log names them', async () => {
    const { late, kept, group, names, lost } = await restored()
    const again = await start()
    const cleo = await again.user('cleo')
    const project = await made(cleo, '/projects', { name: 'newer' })
    expect(project.id).toBeGreaterThan(late.id)
    expect((await cleo.get(`/projects/${project.id}/wikis`)).body).toEqual([])
    expect((await made(cleo, '/snippets', snippet)).id).toBeGreaterThan(kept.id)
    const other = await made(cleo, '/groups', { name: 'newer', path: 'newer' })
    expect(other.id).toBeGreaterThan(group.id)
    expect((await cleo.get(`/groups/${other.id}/wikis`)).body).toEqual([])
    const left = await Promise.all(names.map((name) => traceOf(again, name)))
    expect(left).toEqual(lost)
    const [warned] = said()
    expect(warned).toMatchObject({ level: 'warn', count: lost.length })
    expect(warned?.repositories).toEqual(expect.arrayContaining(lost.map(({ path }) => path)))
  })

  test('is no reason to remove one whose project has no row', async () => {
    const { late, lost } = await restored()
    const again = await start()
    const signal = new AbortController().signal
    await removeProject.handler(again.ctx, { project_id: late.id }, signal)
    expect(await traceOf(again, late.id)).toEqual(lost[0])
  })

  test('is reported by doctor, and a repository that it lacks becomes a project again', async () => {
    const { late, lost } = await restored()
    const { code, out } = await gitstead(folder, ['doctor'])
    expect([code, out]).toEqual([0, expect.stringContaining(`warning repository ${late.id}: `)])
    for (const { path } of lost) expect(out).toContain(`gitstead project import ${path}`)
    const words = ['project', 'import', lost[0]?.path ?? '', '--into', 'ana/found', '--json']
    const taken = await gitstead(folder, words)
    expect(taken.err).toBe('')
    expect(JSON.parse(taken.out)).toMatchObject({ full_path: 'ana/found', branches: 1 })
  })
})

describe('repositories that come to lie there while the server runs', () => {
  test('are passed over by projects, forks and snippets, and stay', async () => {
    const { ctx, user } = await start()
    const ana = await user('ana')
    const first = await made(ana, '/projects', { name: 'first', initialize_with_readme: true })
    const source = await made(ana, '/snippets', snippet)
    const foreign: RepoName[] = [
      first.id + 1,
      { kind: 'project_wiki', id: first.id + 2 },
      first.id + 5,
      { kind: 'snippet', id: source.id + 1 },
    ]
    for (const name of foreign) await ctx.git.init(name, { defaultBranch: 'foreign' })
    const next = await made(ana, '/projects', { name: 'next' })
    expect(next.id).toBe(first.id + 6)
    await ctx.git.init(next.id + 1, { defaultBranch: 'foreign' })
    foreign.push(next.id + 1)
    const fork = await made(ana, `/projects/${first.id}/fork`, { path: 'fork', name: 'fork' })
    expect(fork.id).toBe(next.id + 2)
    await ctx.git.init({ kind: 'snippet', id: source.id + 2 }, { defaultBranch: 'foreign' })
    foreign.push({ kind: 'snippet', id: source.id + 2 })
    expect((await made(ana, '/snippets', snippet)).id).toBe(source.id + 3)
    await world?.runTasks()
    world?.setNow('2026-05-04T11:00:00.000Z')
    await world?.runTasks()
    for (const name of foreign) expect(await ctx.git.exists(name)).toBe(true)
    expect(said().filter(({ message }) => /is passed over$/.test(String(message)))).toHaveLength(3)
    expect((await ana.get('/projects?owned=true')).body).toHaveLength(3)
  })
})

describe('a folder whose database is missing', () => {
  const refused = /^the database .*gitstead\.db is missing, but .* holds .*: put the database back/

  test.each([
    ['repositories', 'repositories/01/1.git/HEAD'],
    ['repositories', 'repositories/03/3.snippet.git/HEAD'],
    ['files', `files/ab/cd/${'ab'.repeat(32)}`],
  ])('but not its %s is refused in one line, as is one of no bytes', async (what, path) => {
    cpSync(join(import.meta.dirname, 'older-database.test.ts'), join(folder, path), {
      recursive: true,
    })
    for (const empty of [false, true]) {
      if (empty) writeFileSync(join(folder, 'gitstead.db'), '')
      const error = await openApp(makeConfig({ data: folder }), { log }).catch(String)
      expect(error).toMatch(/StartError: the database .* is missing/)
      const { code, out } = await gitstead(folder, ['doctor'])
      expect([code, out]).toEqual([1, expect.stringContaining('FAILURE database: the database ')])
      expect(out).toContain(`holds ${what}: put the database back`)
      const user = ['user', 'create', 'ana', '--email', 'ana@example.com']
      const created = await gitstead(folder, user)
      expect([created.code, created.err.trim().replace('gitstead: ', '')]).toEqual([
        1,
        expect.stringMatching(refused),
      ])
      expect(existsSync(join(folder, 'root-token'))).toBe(false)
      expect(existsSync(join(folder, 'gitstead.db'))).toBe(empty)
    }
  })
})

describe('a data folder that others may enter', () => {
  test('is named at the start and by doctor, and a first start closes one of its own', async () => {
    chmodSync(folder, 0o755)
    writeFileSync(join(folder, '.gitignore'), '*\n')
    const first = await openApp(makeConfig({ data: folder }), { log })
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    await first.close()
    expect(lines).toEqual([])
    expect((await gitstead(folder, ['doctor'])).out).toContain(`ok      data folder: ${folder}`)
    chmodSync(folder, 0o755)
    const second = await openApp(makeConfig({ data: folder }), { log })
    await second.close()
    const text = `others on this machine may enter ${folder} (mode 0755): chmod 700 ${folder}`
    expect(said()).toMatchObject([{ level: 'warn', message: text }])
    expect((await gitstead(folder, ['doctor'])).out).toContain(`warning data folder: ${text}`)
  })

  test('but holds something else is left as it is', async () => {
    chmodSync(folder, 0o750)
    writeFileSync(join(folder, 'notes'), '')
    await openApp(makeConfig({ data: folder }), { log }).then((app) => app.close())
    expect((await stat(folder)).mode & 0o777).toBe(0o750)
    expect(said()).toMatchObject([{ message: expect.stringContaining('(mode 0750)') }])
  })
})
