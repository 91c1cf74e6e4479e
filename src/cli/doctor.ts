import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../base/config.ts'
import { silentLog } from '../base/log.ts'
import { StartError } from '../base/start-error.ts'
import { findLastMadeBackup } from '../instance/backups/queries.ts'
import { type Finding, finding, type Manner } from '../instance/health/check/finding.ts'
import { growingLogFindings } from '../instance/health/check/growing-logs.ts'
import { leftoverFinding, unknownFindings } from '../instance/health/check/left-over.ts'
import {
  clockFinding,
  folderFinding,
  gitFinding,
  permissionFindings,
  spaceFinding,
} from '../instance/health/check/machine.ts'
import { repositoryFindings } from '../instance/health/check/repositories.ts'
import { storedFileFindings } from '../instance/health/check/stored-files.ts'
import { BackupSource } from '../instance/health/mend/backup-source.ts'
import { putDatabaseBack, putKeyBack } from '../instance/health/mend/mend-folder.ts'
import { countDeadTasks } from '../instance/health/queries.ts'
import { fingerprintOf, listHostKeys } from '../instance/ssh-host-keys/host-keys.ts'
import { openCommandParts, type Parts } from '../parts.ts'
import { assertDatabaseNotLost, isFirstStart } from '../store/sqlite/data-folder.ts'
import { tryLockDataFolder } from '../store/sqlite/lock.ts'
import { command } from './command.ts'
import type { Progress } from './progress.ts'
import { gitVersion } from './version.ts'

const BACKUP_MS = 7 * 24 * 60 * 60 * 1000

export const doctor = command({
  name: 'doctor',
  summary: 'Check the machine, the database, every repository and every stored file',
  args: [],
  givesWay: true,
  options: {
    fsck: {
      type: 'boolean',
      doc: 'Read every object of every repository and every stored file, which takes long',
    },
    mend: {
      type: 'boolean',
      doc: 'Remove what a crash left behind, and mend what the database, forks, a backup or mirrors still have',
    },
  },
  async run({ options, config, progress, signal }) {
    const manner = { deep: options.fsck ?? false, mend: options.mend ?? false, signal }
    const findings = await findAll(config(), manner, progress)
    const worst = findings.some(({ state }) => state === 'failure')
    const signs = { ok: 'ok      ', warning: 'warning ', failure: 'FAILURE ' }
    return {
      lines: findings.map(({ name, state, text }) => `${signs[state]}${name}: ${text}`),
      data: { healthy: !worst, findings },
      exitCode: worst ? 1 : 0,
    }
  },
})

async function findAll(config: Config, manner: Manner, progress: Progress): Promise<Finding[]> {
  const folder = folderFinding(config)
  const findings = [gitFinding(await gitVersion()), folder]
  // Nothing below can be distinguished from this.
  if (folder.state === 'failure') return findings
  const backup = new BackupSource(config)
  try {
    if (isFirstStart(config.data)) {
      const found = await missingFinding(config, manner, backup)
      findings.push(found)
      if (isFirstStart(config.data)) return findings
    }
    findings.push(await spaceFinding(config), serverFinding(config), ...permissionFindings(config))
    const parts = await openParts(config, manner, backup, findings)
    if (!parts) return findings
    try {
      return [...findings, ...(await dataFindings(parts, config, manner, { backup, progress }))]
    } finally {
      await parts.close()
    }
  } finally {
    backup.close()
  }
}

async function dataFindings(
  parts: Parts,
  config: Config,
  manner: Manner,
  { backup, progress }: { readonly backup: BackupSource; readonly progress: Progress },
): Promise<Finding[]> {
  const ctx = parts.makeCtx()
  const say = (text: string) => progress.say(text)
  return [
    ...databaseFindings(parts),
    await clockFinding(ctx),
    await taskFinding(parts),
    await leftoverFinding(ctx, manner),
    await backupFinding(parts, config),
    sshFinding(parts, config),
    ...(await unknownFindings(ctx)),
    ...(await repositoryFindings(ctx, manner, { backup, say })),
    ...(await storedFileFindings(ctx, manner, backup)),
    ...(await growingLogFindings(ctx, manner, backup)),
  ]
}

/** Undefined when the folder cannot be opened, which a finding says. */
async function openParts(
  config: Config,
  manner: Manner,
  backup: BackupSource,
  findings: Finding[],
): Promise<Parts | undefined> {
  const first = await tryOpen(config)
  if (!(first instanceof StartError)) return first
  if (!lacksKey(config) || !first.message.includes('secret.key')) {
    findings.push(finding('database', 'failure', first.message))
    return undefined
  }
  const from = manner.mend ? await putKeyBack(config.data, backup) : undefined
  if (from === undefined) {
    const text = `${first.message}${keyAdvice(config, manner)}`
    findings.push(finding('secret key', 'failure', text))
    return undefined
  }
  findings.push(finding('secret key', 'ok', `it was missing; put back from the backup ${from}`))
  const second = await tryOpen(config)
  if (!(second instanceof StartError)) return second
  findings.push(finding('secret key', 'failure', second.message))
  return undefined
}

async function tryOpen(config: Config): Promise<Parts | StartError> {
  try {
    return await openCommandParts(config, { log: silentLog, mayMigrate: false })
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return error
  }
}

function lacksKey({ data, secretKey }: Config): boolean {
  return secretKey === undefined && !existsSync(join(data, 'secret.key'))
}

function keyAdvice({ backupFolder, backupPassphraseFile }: Config, { mend }: Manner): string {
  if (backupFolder === undefined || backupPassphraseFile === undefined) {
    return ' (with GITSTEAD_BACKUP_FOLDER and GITSTEAD_BACKUP_PASSPHRASE_FILE --mend does that)'
  }
  return mend ? ' (no backup that can be opened has it)' : ' (--mend does that)'
}

/** Without a database: a first start makes one, unless there is what one was lost of. */
async function missingFinding(
  { data, backupFolder }: Config,
  { mend }: Manner,
  backup: BackupSource,
): Promise<Finding> {
  try {
    assertDatabaseNotLost(data)
    return finding('database', 'ok', 'none yet, the first start makes it')
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    const from = mend ? await putDatabaseBack(data, backup) : undefined
    if (from !== undefined) {
      return finding('database', 'ok', `it was missing; put back from the backup ${from}`)
    }
    const advice =
      backupFolder === undefined || mend ? '' : ' (--mend takes that of the last backup)'
    return finding('database', 'failure', `${error.message}${advice}`)
  }
}

function serverFinding({ data }: Config): Finding {
  const lock = tryLockDataFolder(data)
  lock?.release()
  return finding('server', 'ok', lock === undefined ? 'one is running' : 'none is running')
}

function databaseFindings({ store }: Parts): Finding[] {
  const faults = store.faults()
  if (faults.length === 0) return [finding('database', 'ok', 'whole')]
  return faults.map((fault) => finding('database', 'failure', fault))
}

/** By which keys clients know the server again. */
function sshFinding(parts: Parts, { sshPort, ssh }: Config): Finding {
  if (sshPort === 0) {
    const other = ssh.isOffered ? `, port ${ssh.port} is answered by another server` : ''
    return finding('ssh', 'ok', `off${other}`)
  }
  const keys = listHostKeys(parts.makeCtx()).map(
    ({ publicKey }) => `${publicKey.split(' ')[0]} ${fingerprintOf(publicKey)}`,
  )
  const shown = keys.length === 0 ? 'host keys are made by the next start' : keys.join(', ')
  return finding('ssh', 'ok', `port ${sshPort}, ${shown}`)
}

async function taskFinding({ store }: Parts): Promise<Finding> {
  const dead = await countDeadTasks(store.db)
  if (dead === 0) return finding('background work', 'ok', 'nothing has failed')
  return finding('background work', 'warning', `${dead} tasks have failed for good`)
}

async function backupFinding({ store, now }: Parts, { backupFolder }: Config): Promise<Finding> {
  const last = await findLastMadeBackup(store.db)
  if (!last) return finding('backup', 'warning', 'none was made yet, see gitstead backup create')
  const isOld = Date.parse(now()) - Date.parse(last.finished_at) > BACKUP_MS
  const advice = isOld ? ': make one, or set GITSTEAD_BACKUP_SCHEDULE' : ''
  const isGone = backupFolder !== undefined && !existsSync(join(backupFolder, 'backups'))
  if (isGone) return finding('backup', 'failure', `${backupFolder} holds no backups any more`)
  const text = `the last was made at ${last.finished_at} in ${last.folder}${advice}`
  return finding('backup', isOld ? 'warning' : 'ok', text)
}
