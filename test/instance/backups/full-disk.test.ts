import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mountSmallDisk, type SmallDisk } from '../../../scripts/torture/disk/small-disk.ts'
import { gitstead } from '../../support/command-line.ts'
import { createProject } from '../../support/create.ts'
import { useWorld } from '../../support/world.ts'
import { type BackupPlace, openBackupPlace, useQuickKeys } from './place.ts'

useQuickKeys()
const world = useWorld()
let place: BackupPlace
let disk: SmallDisk | undefined
beforeAll(async () => {
  place = openBackupPlace()
  disk = mountSmallDisk(join(place.folder, 'disk'), 24)
  await createProject(world.root, 'demo', { initialize_with_readme: true })
})
afterAll(async () => {
  disk?.unmount()
  place.remove()
})

test('a backup for which there is no room leaves the others as they were', async ({ skip }) => {
  if (!disk) return skip('this user may not mount a small disk')
  const backups = join(disk.folder, 'backups')
  const create = () =>
    gitstead(world.folder, ['backup', 'create', '--to', backups, ...place.passphrase])
  expect((await create()).code).toBe(0)
  const names = readdirSync(join(backups, 'backups'))
  for (const left of [0, 200_000, 1_000_000]) {
    await disk.fill(left)
    const full = await create()
    expect(full.code).toBe(1)
    expect(full.err).toMatch(/^gitstead: [^\n]*(no space|disk is full)[^\n]*\n$/i)
    await disk.free()
    expect(readdirSync(join(backups, 'backups'))).toEqual(names)
    const verified = await gitstead(world.folder, ['backup', 'verify', '--from', backups])
    expect(verified.code).toBe(0)
  }
  expect((await create()).code).toBe(0)
  expect(readdirSync(join(backups, 'tmp'))).toEqual([])
}, 120_000)

test('a restore for which there is no room leaves the folder empty', async ({ skip }) => {
  if (!disk) return skip('this user may not mount a small disk')
  rmSync(join(disk.folder, 'backups'), { recursive: true, force: true })
  expect((await place.create(world.folder)).code).toBe(0)
  const data = join(disk.folder, 'data')
  await disk.fill(1_000_000)
  const words = ['backup', 'restore', '--from', place.backups, ...place.passphrase]
  const full = await gitstead(data, words)
  await disk.free()
  expect(full.code).toBe(1)
  expect(full.err).toMatch(/^gitstead: [^\n]*(no space|disk is full)[^\n]*\n$/i)
  expect(existsSync(data) ? readdirSync(data) : []).toEqual([])
  expect((await gitstead(data, words)).code).toBe(0)
}, 60_000)
