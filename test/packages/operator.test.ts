import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { gitstead } from '../support/command-line.ts'
import { createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { type Caller, openWorld, type World } from '../support/world.ts'
import { tarballOf } from './tarball.ts'

let world: World
let ana: Caller
let at: string
let disk: string

beforeAll(async () => {
  world = await openWorld()
  ana = await world.user('ana')
  const project = await createProject(ana, 'p')
  at = `/projects/${project.id}/packages`
  disk = newFolder()
})
afterAll(async () => {
  await world.close()
  rmSync(disk, { recursive: true, force: true })
})

function place(path: string, bytes: string | Buffer): void {
  const file = join(disk, path)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, bytes)
}

const tarball = (json: object) => tarballOf({ 'package/package.json': JSON.stringify(json) })

const run = (...words: string[]) => gitstead(world.folder, ['packages', ...words])

test('folders that were carried over are published, and again without harm', async () => {
  place('npm/a-1.0.0.tgz', await tarball({ name: '@x/a', version: '1.0.0' }))
  place('npm/_cacache/content-v2/sha512/ab/cd/ef01', await tarball({ name: 'b', version: '2.0.0' }))
  place('npm/broken.tgz', 'no tarball')
  place('wheels/acme_tool-1.0-py3-none-any.whl', 'wheel')
  place('wheels/acme_tool-1.0.tar.gz', 'source')
  place('m2/org/x/tool/1.0/tool-1.0.jar', 'jar')
  place('m2/org/x/tool/1.0/_remote.repositories', 'x')
  const npm = await run('import', join(disk, 'npm'), '--into', 'ana/p', '--type', 'npm')
  expect(npm.out).toContain('2 published, 0 there already, 1 refused')
  expect([npm.code, npm.out.includes('refused broken.tgz')]).toEqual([1, true])
  const again = await run('import', join(disk, 'npm'), '--into', 'ana/p', '--type', 'npm')
  expect(again.out).toContain('0 published, 2 there already, 1 refused')
  const wheels = await run('import', join(disk, 'wheels'), '--into', 'ana/p', '--type', 'pypi')
  expect([wheels.code, wheels.out]).toEqual([0, expect.stringContaining('2 published')])
  const m2 = await run('import', join(disk, 'm2'), '--into', 'ana/p', '--type', 'maven')
  expect([m2.code, m2.out]).toEqual([0, expect.stringContaining('1 published')])
  expect((await ana.get(`${at}/npm/b`)).body['dist-tags']).toEqual({ latest: '2.0.0' })
  expect((await ana.get(`${at}/pypi/simple/acme-tool`)).status).toBe(200)
  expect((await ana.get(`${at}/maven/org/x/tool/1.0/tool-1.0.jar`)).body).toBe('jar')
  expect((await run('import', disk, '--into', 'ana/p', '--type', 'x')).code).toBe(2)
  expect((await run('import', disk, '--into', 'no/such', '--type', 'npm')).code).toBe(2)
})

test('every file is compared with its hash, and sizes are shown by project', async () => {
  await ana.put(`${at}/generic/g/1/f`, undefined, { raw: 'the right bytes' })
  const whole = await run('verify')
  expect([whole.code, whole.out]).toEqual([0, expect.stringContaining('0 damaged')])
  expect((await run('sizes')).out).toContain('ana/p')
  const { file_sha256 } = await world.ctx.db
    .selectFrom('package_files')
    .select('file_sha256')
    .where('file_name', '=', 'f')
    .executeTakeFirstOrThrow()
  writeFileSync(world.ctx.files.pathOf(file_sha256), 'the wrong bytes')
  const damaged = await run('verify')
  expect(damaged.code).toBe(1)
  expect(damaged.out).toContain('FAILURE ana/p g 1 f has other content than its hash')
  rmSync(world.ctx.files.pathOf(file_sha256))
  expect((await run('verify')).out).toContain('is missing')
})
