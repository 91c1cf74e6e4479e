import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { readConfig } from '../base/config.ts'
import { command, UsageError } from './command.ts'
import {
  installService,
  readSettingsFile,
  type ServiceOptions,
  unitFacts,
} from './service/install.ts'
import { serviceUnit } from './service/unit.ts'

const defaultData = '/var/lib/gitstead'

export const serviceInstall = command({
  name: 'service install',
  summary: 'Have systemd run the server with the machine, as a user of its own',
  args: [],
  options: {
    user: { type: 'string', value: '<name>', doc: 'User to run as, made where missing; gitstead' },
    port: { type: 'string', value: '<number>', doc: 'Port to listen on; below 1024 too' },
    host: { type: 'string', value: '<address>', doc: 'Address to listen on' },
    'external-url': { type: 'string', value: '<url>', doc: 'Address that people use' },
    'settings-file': {
      type: 'string',
      value: '<file>',
      doc: 'File of settings; otherwise /etc/gitstead.env',
    },
    'unit-folder': {
      type: 'string',
      value: '<folder>',
      doc: 'Where the unit goes; otherwise /etc/systemd/system',
    },
    print: { type: 'boolean', doc: 'Only show the unit' },
  },
  async run({ options, data: named }) {
    const { user = 'gitstead', port, host, 'external-url': externalUrl } = options
    if (!/^[a-z_][a-z\d_-]{0,31}$/.test(user)) {
      throw new UsageError(`'${user}' is no name of a user`)
    }
    const settings = resolve(options['settings-file'] ?? '/etc/gitstead.env')
    const wanted = {
      GITSTEAD_PORT: port,
      GITSTEAD_HOST: host,
      GITSTEAD_EXTERNAL_URL: externalUrl,
    }
    const given = Object.fromEntries(
      Object.entries(wanted).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      ),
    )
    const before = await readSettingsFile(settings)
    const folder = named ?? before.GITSTEAD_DATA ?? defaultData
    // As the service will read them, so that a wrong one is named now.
    const config = readConfig({ ...before, ...given, GITSTEAD_DATA: folder })
    const service: ServiceOptions = {
      user,
      data: config.data,
      settings,
      units: resolve(options['unit-folder'] ?? '/etc/systemd/system'),
      port: config.port,
      given,
      writes: config.backupFolder === undefined ? [] : [resolve(config.backupFolder)],
      hasSystemd: existsSync('/run/systemd/system'),
    }
    if (options.print) {
      const unit = serviceUnit(unitFacts(service))
      return { lines: [unit.trimEnd()], data: { unit } }
    }
    const { lines, ...data } = await installService(service)
    return { lines, data }
  },
})
