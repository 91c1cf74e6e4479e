import { clientRead, clientWrite } from '../registry/access.ts'

/** npm shows what stands at `error`; the API's own clients read `message`. */
function refusal(_status: number, message: string) {
  return { error: message, message }
}

export const npmRead = { ...clientRead, client: { ...clientRead.client, refusal } } as const
export const npmWrite = { ...clientWrite, client: { ...clientWrite.client, refusal } } as const
