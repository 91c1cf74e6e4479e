import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeBundle, writeChecksums } from '../../../scripts/release/bundle.ts'
import { assertBundleFits, readBundle } from '../../../scripts/setup/bundled.mjs'
import { root } from '../../../scripts/setup.mjs'
import { newFolder } from '../../support/database.ts'
import { isThere } from '../../support/needed.ts'
import { makeBareMachine, runInside } from './bare-machine.ts'

const folder = newFolder()
const machine = join(folder, 'machine')
const unpacked = join(machine, 'gitstead')
let archive = ''

beforeAll(() => {
  archive = makeBundle({ root, out: join(folder, 'release'), say: () => {}, compression: 1 })
  makeBareMachine(machine)
  execFileSync('mkdir', ['-p', unpacked])
  execFileSync('tar', ['-xzf', archive, '-C', unpacked, '--strip-components=1'])
}, 300_000)

afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

const mayPartMachine = isThere(
  'the right to make namespaces, and busybox',
  spawnSync('unshare', ['--net', '--mount', '--pid', '--fork', 'busybox', 'true']).status === 0,
)

test.skipIf(!mayPartMachine)(
  'a bundle runs where there are Node and git alone, and no network: first push, merge, pages, backup, restore',
  () => {
    cpSync(new URL('first-hour.mjs', import.meta.url), join(machine, 'root/first-hour.mjs'))
    const { stdout, stderr } = runInside(machine, ['node', '/root/first-hour.mjs'])
    expect(stderr).toBe('')
    const said = JSON.parse(stdout)
    expect(said).toMatchObject({
      merged: 'merged',
      page: 200,
      style: 200,
      restored: ['hello.txt', 'side.txt'],
    })
    expect(said.pushedAfter).toBeLessThan(60)
  },
  300_000,
)

test('its checksum is that of the archive', () => {
  writeChecksums(archive)
  const sums = execFileSync('sha256sum', ['-c', 'SHA256SUMS'], {
    cwd: join(folder, 'release'),
    encoding: 'utf8',
  })
  expect(sums).toBe(`${basename(archive)}: OK\n`)
})

test('every package in it is in the bill of materials and among the licences, and no source of a native module is shipped', () => {
  const bom = JSON.parse(readFileSync(join(unpacked, 'sbom.cdx.json'), 'utf8'))
  const licenses = readFileSync(join(unpacked, 'LICENSES.txt'), 'utf8')
  const names = new Set(bom.components.map((one: { name: string }) => one.name))
  const manifests = readdirSync(join(unpacked, 'node_modules'), {
    recursive: true,
    encoding: 'utf8',
  })
    .filter((path) => /^(@[^/]+\/)?[^/]+\/package\.json$/.test(path))
    .map((path) => JSON.parse(readFileSync(join(unpacked, 'node_modules', path), 'utf8')))
  expect(manifests.length).toBeGreaterThan(100)
  for (const { name, version } of manifests) {
    expect(names).toContain(name)
    expect(licenses).toContain(`${name} ${version} (`)
  }
  for (const name of ['libgit2', 'sqlite', '@codemirror/view', '@primer/octicons']) {
    expect(names).toContain(name)
    expect(licenses).toContain(`\n${name} `)
  }
  // What only builds or tests is not there.
  for (const name of ['typescript', 'node-gyp', 'prebuild-install', 'vitest']) {
    expect(names).not.toContain(name)
  }
  expect(bom).toMatchObject({
    bomFormat: 'CycloneDX',
    metadata: { component: { name: 'gitstead' } },
  })
  expect(existsSync(join(unpacked, 'node_modules/nodegit/vendor'))).toBe(false)
  expect(existsSync(join(unpacked, 'node_modules/better-sqlite3/deps'))).toBe(false)
})

test('a machine that it does not fit is told in one line', () => {
  const bundle = readBundle(unpacked)
  if (bundle === undefined) throw new Error('the bundle says nothing of itself')
  const { version, commit, ...made } = bundle
  expect([version, commit]).toEqual(['0.1.0', expect.stringMatching(/^[0-9a-f]{40}/)])
  const path = process.env.PATH
  expect(assertBundleFits(bundle, { ...made, path })).toEqual([])
  const other = (change: object) => () => assertBundleFits(bundle, { ...made, path, ...change })
  expect(other({ arch: 'arm64' })).toThrow(
    /^this bundle is for linux on \w+, this is linux on arm64$/,
  )
  expect(other({ abi: '127', node: '22.1.0' })).toThrow(
    /^this bundle is for Node \d+, this is Node 22\.1\.0: start it with Node \d+, or take the bundle/,
  )
  expect(other({ libc: 'musl' })).toThrow(/^this bundle needs glibc[\d.]+ or newer, this is musl/)
  expect(other({ libc: 'glibc2.9' })).toThrow('this is glibc2.9')
  expect(other({ libc: 'glibc3.0' })()).toEqual([])
  expect(other({ path: '' })).toThrow('git is missing: install it')
})
