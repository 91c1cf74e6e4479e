import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { makeConfig } from '../../../src/base/config.ts'
import { backupSchedules } from '../../../src/instance/backups/schedule.ts'
import { gitstead } from '../../support/command-line.ts'
import { openWorld, type World } from '../../support/world.ts'
import { type BackupPlace, openBackupPlace } from './place.ts'

let world: World | undefined
let place: BackupPlace | undefined
afterEach(async () => {
  await world?.close()
  place?.remove()
})

async function openScheduled(folder: (place: BackupPlace) => string) {
  place = openBackupPlace()
  world = await openWorld({
    backupFolder: folder(place),
    backupSchedule: '30 2 * * *',
    backupKeep: 1,
    backupPassphraseFile: join(place.folder, 'passphrase'),
  })
  const { root } = world
  return {
    world,
    place,
    list: async () => (await root.get('/admin/backups')).body,
    metrics: async () => String((await root.get('/-/metrics', { host: true })).body),
  }
}

test('backups come round by the clock, and older ones go', async () => {
  const { world, place, list, metrics } = await openScheduled(({ backups }) => backups)
  expect(await metrics()).not.toContain('gitstead_backup')
  await world.runTasks()
  expect(await list()).toMatchObject([
    { state: 'success', folder: place.backups, faults: [], error: null },
  ])
  // Not before its time.
  world.setNow('2026-05-05T02:29:00.000Z')
  await world.runTasks()
  expect(await list()).toHaveLength(1)
  world.setNow('2026-05-05T02:30:10.000Z')
  await world.runTasks()
  const names = (await list()).map(({ name }: { name: string }) => name)
  expect(names).toHaveLength(2)
  expect(readdirSync(join(place.backups, 'backups'))).toEqual(names.slice(0, 1))
  expect(await metrics()).toMatch(/^gitstead_backup_last_state\{state="success"\} 1$/m)
  expect(await metrics()).toMatch(/^gitstead_backup_last_made_timestamp_seconds \d{10}/m)
  expect((await place.verify(['--all'])).code).toBe(0)
  const { out } = await gitstead(world.folder, ['doctor'])
  expect(out).toContain('ok      backup: the last was made at')
}, 240_000)

test('administrators get mail when a backup fails', async () => {
  const { world, place, list, metrics } = await openScheduled(({ folder }) => join(folder, 'other'))
  mkdirSync(join(place.folder, 'other'))
  writeFileSync(join(place.folder, 'other/letter.txt'), 'holiday')
  await world.runTasks()
  expect(await list()).toMatchObject([
    { state: 'failed', name: null, error: expect.stringContaining('something else than backups') },
  ])
  const [mail = ''] = readdirSync(join(world.folder, 'outbox')).filter((name) =>
    name.startsWith('backup-'),
  )
  const text = readFileSync(join(world.folder, 'outbox', mail), 'utf8')
  expect(text).toMatch(/^Subject: No backup was made$/m)
  expect(text.replaceAll('=\r\n', '')).toContain('something else than backups')
  expect(await metrics()).toMatch(/^gitstead_backup_last_state\{state="failed"\} 1$/m)
  const { code, out } = await gitstead(world.folder, ['doctor'])
  expect(out).toContain('warning backup: none was made yet')
  expect(code).toBe(0)
}, 120_000)

test('a schedule that could only fail stops the start', () => {
  const backupSchedule = '30 2 * * *'
  expect(backupSchedules(makeConfig())).toEqual([])
  expect(() => backupSchedules(makeConfig({ backupSchedule }))).toThrow(
    'GITSTEAD_BACKUP_SCHEDULE needs GITSTEAD_BACKUP_FOLDER',
  )
  expect(() => backupSchedules(makeConfig({ backupSchedule, backupFolder: '/b' }))).toThrow(
    'GITSTEAD_BACKUP_SCHEDULE needs GITSTEAD_BACKUP_PASSPHRASE_FILE',
  )
})

test('a schedule is due at its last moment, that moment included', () => {
  const given = { backupFolder: '/b', backupPassphraseFile: '/p' }
  const dueAt = (backupSchedule: string, now: string) =>
    backupSchedules(makeConfig({ ...given, backupSchedule }))[0]?.dueAt(now)
  expect(dueAt('30 2 * * *', '2026-05-05T02:30:00.000Z')).toBe('2026-05-05T02:30:00.000Z')
  expect(dueAt('30 2 * * *', '2026-05-05T02:29:59.999Z')).toBe('2026-05-04T02:30:00.000Z')
  expect(dueAt('0 3 1 * *', '2026-05-05T02:29:59.999Z')).toBe('2026-05-01T03:00:00.000Z')
})
