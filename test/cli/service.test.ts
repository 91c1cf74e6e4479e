import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gitstead } from '../support/command-line.ts'
import { isThere } from '../support/needed.ts'
import { newTestFolder } from '../support/test-folder.ts'

const hasVerify = isThere(
  'systemd-analyze',
  spawnSync('systemd-analyze', ['--version']).status === 0,
)
// Where systemd runs, it would start what is installed.
const mayInstall = process.geteuid?.() === 0 && !existsSync('/run/systemd/system')

function place() {
  const folder = newTestFolder()
  const data = join(folder, 'data')
  const settings = join(folder, 'etc/gitstead.env')
  const units = join(folder, 'units')
  const run = (...words: string[]) =>
    gitstead(data, [
      ...['service', 'install', '--data', data, '--user', 'games'],
      ...['--settings-file', settings, '--unit-folder', units, ...words],
    ])
  return { data, settings, unit: join(units, 'gitstead.service'), run }
}

const line = (unit: string, name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1]

describe('the unit', () => {
  test('gives the right to a port below 1024, and only there', async () => {
    const { run } = place()
    const low = (await run('--print', '--port', '443')).out
    const high = (await run('--print', '--port', '1024')).out
    for (const name of ['AmbientCapabilities', 'CapabilityBoundingSet']) {
      expect([line(low, name), line(high, name)]).toEqual(['CAP_NET_BIND_SERVICE', ''])
    }
  })

  test('lets the server write to its data, and to the backups that its settings name', async () => {
    const { run, data, settings } = place()
    mkdirSync(join(settings, '..'), { recursive: true })
    writeFileSync(settings, 'GITSTEAD_BACKUP_FOLDER="/back ups"\nGITSTEAD_PORT=80\n')
    const { out } = await run('--print')
    expect(line(out, 'ReadWritePaths')).toBe(`${data} "/back ups"`)
    expect(line(out, 'AmbientCapabilities')).toBe('CAP_NET_BIND_SERVICE')
    expect(line(out, 'ProtectSystem')).toBe('strict')
  })

  test('a wrong setting and a wrong name of a user are refused before anything is written', async () => {
    const { run, unit } = place()
    expect((await run('--port', 'http')).err).toBe(
      'gitstead: GITSTEAD_PORT is wrong: "http" (expected a whole number from 0 to 65535)\n',
    )
    expect((await run('--user', 'a b')).err).toBe("gitstead: 'a b' is no name of a user\n")
    expect(() => statSync(unit)).toThrow()
  })

  test.skipIf(!hasVerify)('systemd finds nothing wrong with it, and little exposed', async () => {
    const { run, data, unit } = place()
    mkdirSync(join(unit, '..'), { recursive: true })
    mkdirSync(data)
    writeFileSync(unit, (await run('--print', '--port', '80')).out)
    const verify = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
    // Of other units of the machine it may say something, too.
    const own = verify.stderr.split('\n').filter((said) => said.includes('gitstead'))
    expect(own).toEqual([])
    expect(verify.status).toBe(0)
    const security = execFileSync(
      'systemd-analyze',
      ['security', '--offline=true', '--threshold=30', unit],
      { encoding: 'utf8' },
    )
    expect(Number(/exposure level for .*: ([\d.]+)/.exec(security)?.[1])).toBeLessThan(3)
  })
})

describe.skipIf(!mayInstall)('an installation', () => {
  test('makes the data folder of its user, keeps the settings, and says that nothing is started without systemd', async () => {
    const { run, data, settings, unit } = place()
    const first = await run('--port', '80', '--external-url', 'https://git.example.com')
    expect(first.err).toBe('')
    expect(first.out).toContain(`the data folder ${data} was made`)
    expect(first.out).toContain(
      'systemd does not run here: the unit is written, and nothing is started',
    )
    const games = Number(execFileSync('id', ['-u', 'games'], { encoding: 'utf8' }))
    expect([statSync(data).uid, statSync(data).mode & 0o777]).toEqual([games, 0o700])
    expect(statSync(settings).mode & 0o777).toBe(0o640)
    writeFileSync(settings, `${readFileSync(settings, 'utf8')}GITSTEAD_MAX_PUSH=1g\n`)
    const second = await run('--port', '8443')
    expect(second.err).toBe('')
    expect(readFileSync(settings, 'utf8').split('\n').slice(1)).toEqual([
      'GITSTEAD_PORT=8443',
      'GITSTEAD_EXTERNAL_URL=https://git.example.com',
      'GITSTEAD_MAX_PUSH=1g',
      '',
    ])
    expect(line(readFileSync(unit, 'utf8'), 'AmbientCapabilities')).toBe('')
  })

  test("refuses a data folder that is somebody else's", async () => {
    const { run, data, unit } = place()
    mkdirSync(data)
    chownSync(data, 12_345, 12_345)
    expect((await run()).err).toBe(
      `gitstead: the data folder ${data} is somebody else's (user 12345): chown -R it to the user of the service, or take --user\n`,
    )
    expect(() => statSync(unit)).toThrow()
  })
})
