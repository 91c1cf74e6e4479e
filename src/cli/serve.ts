import { command } from './command.ts'

export const serve = command({
  name: 'serve',
  summary: 'Serve the data folder until stopped by SIGTERM or SIGINT',
  args: [],
  options: {
    host: { type: 'string', value: '<address>', doc: 'Address to listen on; GITSTEAD_HOST' },
    port: { type: 'string', value: '<number>', doc: 'Port to listen on; GITSTEAD_PORT' },
  },
  async run({ options, serve }) {
    await serve({
      ...(options.host === undefined ? {} : { GITSTEAD_HOST: options.host }),
      ...(options.port === undefined ? {} : { GITSTEAD_PORT: options.port }),
    })
    return { lines: [], data: null, silent: true }
  },
})
