import { clientRead, clientWrite } from '../registry/access.ts'

/** The plugin that pushes charts shows what stands at `error`. */
function refusal(_status: number, message: string) {
  return { error: message, message }
}

// docs/contract/C-resolved §3.10: whatever the user name.
const more = { refusal, userName: 'ignored' } as const
export const helmRead = { ...clientRead, client: { ...clientRead.client, ...more } } as const
export const helmWrite = { ...clientWrite, client: { ...clientWrite.client, ...more } } as const
