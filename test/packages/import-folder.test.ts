import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findProjectByPath } from '../../src/access/find-queries.ts'
import { type Project, withProjectRole } from '../../src/access/subjects.ts'
import type { Ctx } from '../../src/ctx.ts'
import { type ImportKind, importFolder } from '../../src/packages/import/import-folder.ts'
import { packageSizesByProject, verifyPackageFiles } from '../../src/packages/operator/verify.ts'
import { createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { type Caller, openWorld, type World } from '../support/world.ts'
import { publishNpm, putGeneric } from './publishing.ts'
import { tarballOf } from './tarball.ts'
import { zipOf } from './zip-file.ts'

let world: World
let ana: Caller
let ctx: Ctx
let project: Project
let at: string
let disk: string

beforeAll(async () => {
  world = await openWorld({}, { background: false })
  ana = await world.user('ana')
  const { id } = await createProject(ana, 'p')
  at = `/projects/${id}/packages`
  // The command acts as the server itself.
  ctx = { ...world.ctx, actor: { kind: 'system' } }
  const row = await findProjectByPath(ctx.db, 'ana/p')
  if (!row) throw new Error('no project')
  project = await withProjectRole(ctx, row)
  disk = newFolder()
})
afterAll(async () => {
  await world.close()
  rmSync(disk, { recursive: true, force: true })
})

function place(path: string, bytes: string | Buffer): void {
  const file = join(disk, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, bytes)
}

const tarball = (json: object) => tarballOf({ 'package/package.json': JSON.stringify(json) })

async function run(kind: ImportKind, folder: string = kind) {
  const files: string[] = []
  const signal = new AbortController().signal
  const options = { kind, signal, onFile: (path: string) => files.push(path) }
  const report = await importFolder(ctx, project, join(disk, folder), options)
  return { ...report, files }
}

async function filesOf(name: string): Promise<string[]> {
  const { body } = await ana.get(`${at}?package_name=${name}&include_versionless=true`)
  const names: string[] = []
  for (const row of body) {
    const files = (await ana.get(`${at}/${row.id}/package_files`)).body
    names.push(...files.map((one: { file_name: string }) => one.file_name))
  }
  return names
}

test('a repository folder of Maven is published once, without what Maven notes for itself', async () => {
  const lib = 'maven/org/x/lib'
  place(`${lib}/1.0/lib-1.0.jar`, 'jar')
  place(`${lib}/1.0/lib-1.0.jar.sha1`, 'left behind')
  place(`${lib}/1.0/lib-1.0.jar.md5`, 'left behind')
  place(`${lib}/1.0/lib-1.0.jar.sha256`, 'kept')
  place(`${lib}/1.0/lib-1.0.pom`, '<project><artifactId>lib</artifactId></project>')
  place(`${lib}/1.0/lib-1.0.pom.lastUpdated`, 'x')
  place(`${lib}/1.0/_remote.repositories`, 'x')
  place(`${lib}/.cache/index`, 'x')
  place(`${lib}/maven-metadata-central.xml`, '<metadata><versioning/></metadata>')
  place(`${lib}/resolver-status.properties`, 'x')
  place('maven/one.jar', 'no place for it')
  place('maven/org/x/bad/1/bad-1.pom', '<project><artifactId>other</artifactId></project>')
  symlinkSync('/etc/passwd', join(disk, `${lib}/1.0/lib-1.0-link.jar`))
  symlinkSync('/etc', join(disk, 'maven/org/etc'))
  const first = await run('maven')
  expect(first.refused.map((one) => one.file)).toEqual(['one.jar', 'org/x/bad/1/bad-1.pom'])
  expect(first.refused[1]?.reason).toContain('The pom is of another artifact')
  const wanted = ['lib-1.0.jar', 'lib-1.0.jar.sha256', 'lib-1.0.pom', 'maven-metadata.xml']
  expect(await filesOf('org/x/lib')).toEqual(expect.arrayContaining(wanted))
  const before = (await filesOf('org/x/lib')).length
  const second = await run('maven')
  expect([second.imported, second.known]).toEqual([0, first.imported])
  expect(await filesOf('org/x/lib')).toHaveLength(before)
  place(`${lib}/1.0/lib-1.0.jar`, 'another jar')
  const third = await run('maven')
  expect([third.imported, third.known]).toEqual([1, first.imported - 1])
  expect((await ana.get(`${at}/maven/org/x/lib/1.0/lib-1.0.jar`)).body).toBe('another jar')
  expect((await ana.get(`${at}/maven/org/x/lib/1.0/lib-1.0-link.jar`)).status).toBe(404)
})

test('Python files are published by what their names say', async () => {
  const info = 'Metadata-Version: 2.1\nName: w\nVersion: 1.0\nRequires-Python: >=3.9\n\n'
  place('pypi/deep/w-1.0-py3-none-any.whl', await zipOf({ 'w-1.0.dist-info/METADATA': info }))
  place('pypi/my-old-tool-2.0.tar.gz', 'source')
  place('pypi/My_Old_Tool-2.1-1-cp311-cp311-linux_x86_64.whl', 'no zip file')
  place('pypi/noversion.tar.gz', 'x')
  place('pypi/bad-latest.tar.gz', 'x')
  place('pypi/readme.txt', 'x')
  const first = await run('pypi')
  expect([first.imported, first.known]).toEqual([3, 0])
  expect(first.refused.map((one) => one.file)).toEqual(['bad-latest.tar.gz', 'noversion.tar.gz'])
  expect(first.files).not.toContain('readme.txt')
  const page = (await ana.get(`${at}/pypi/simple/w`)).body
  expect(page).toContain('data-requires-python="&gt;=3.9"')
  const old = (await ana.get(`${at}/pypi/simple/my-old-tool`)).body
  expect(old).toContain('>my-old-tool-2.0.tar.gz<')
  expect(old).toContain('>My_Old_Tool-2.1-1-cp311-cp311-linux_x86_64.whl<')
  expect(await run('pypi')).toMatchObject({ imported: 0, known: 3 })
})

test('tarballs of npm are published by their own package.json, one for each version', async () => {
  place('npm/any-name.tgz', await tarball({ name: '@x/a', version: '1.0.0', deprecated: 'no' }))
  place('npm/_cacache/content-v2/sha512/aa/bb/cc', await tarball({ name: 'b', version: '1.0.0' }))
  place('npm/_cacache/index-v5/aa/bb/cc', 'an index, and no tarball')
  place('npm/again/b.tgz', await tarball({ name: 'b', version: '1.0.0', description: 'other' }))
  place('npm/v.tgz', await tarball({ name: 'c', version: 'v1.0.0' }))
  place('npm/n.tgz', await tarball({ name: '../c', version: '1.0.0' }))
  place('npm/none.tgz', await tarball({ version: '1.0.0' }))
  const first = await run('npm')
  expect([first.imported, first.known]).toEqual([2, 1])
  expect(first.refused.map((one) => one.file)).toEqual(['n.tgz', 'none.tgz', 'v.tgz'])
  const { body } = await ana.get(`${at}/npm/@x%2fa`)
  expect([body['dist-tags'], body.versions['1.0.0'].deprecated]).toEqual([
    { latest: '1.0.0' },
    'no',
  ])
  expect(await run('npm')).toMatchObject({ imported: 0, known: 3 })
  expect((await publishNpm(ana, at, 'b', '1.0.0')).status).toBe(403)
})

test('an import that is called off stops between two files', async () => {
  place('off/a/1/a-1.jar', 'a')
  place('off/b/1/b-1.jar', 'b')
  const controller = new AbortController()
  const options = {
    kind: 'maven',
    signal: controller.signal,
    onFile: () => controller.abort(),
  } as const
  await expect(importFolder(ctx, project, join(disk, 'off'), options)).rejects.toThrow(/abort/i)
  expect((await ana.get(`${at}/maven/a/1/a-1.jar`)).status).toBe(200)
  expect((await ana.get(`${at}/maven/b/1/b-1.jar`)).status).toBe(404)
})

test('bytes that packages share are read once, what was deleted is not, and damage names its place', async () => {
  const made = await ana.post('/projects', { name: 'verified' })
  const own = `/projects/${made.body.id}/packages`
  for (const name of ['a', 'b', 'c']) await putGeneric(ana, own, `${name}/1/f`, 'shared by three')
  const gone = await putGeneric(ana, own, 'gone/1/f?select=package_file', 'deleted bytes')
  const verify = async () => {
    let seen = 0
    const signal = new AbortController().signal
    const report = await verifyPackageFiles(ctx, { signal, onFile: (count) => (seen = count) })
    return { ...report, seen }
  }
  const before = await verify()
  expect([before.damages, before.seen]).toEqual([[], before.files])
  await putGeneric(ana, own, 'd/1/f', 'shared by three')
  expect((await verify()).files).toBe(before.files)
  await ana.delete(`${own}/${gone.body.package_id}`)
  expect((await verify()).files).toBe(before.files - 1)
  const { file_sha256: sha256 } = (
    await putGeneric(ana, own, 'e/2.0/dir/f?select=package_file', 'whole')
  ).body
  const damaged = async (bytes: string) => {
    writeFileSync(world.ctx.files.pathOf(sha256), bytes)
    return (await verify()).damages
  }
  const file = 'ana/verified e 2.0 dir%2Ff'
  expect(await damaged('WHOLE')).toEqual([{ file, sha256, what: 'content' }])
  expect(await damaged('who')).toEqual([{ file, sha256, what: 'size' }])
  expect(await damaged('whole')).toEqual([])
  const sizes = await packageSizesByProject(ctx)
  expect(sizes.map((one) => one.full_path).sort()).toEqual(['ana/p', 'ana/verified'])
  const bytes = sizes.map((one) => one.bytes)
  expect(bytes).toEqual([...bytes].sort((a, b) => b - a))
})
