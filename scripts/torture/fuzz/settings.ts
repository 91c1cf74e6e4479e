import { type Api, asRecord } from '../place/api.ts'

/** The instance's settings as they are now, to be put back whenever a request has changed them. */
export async function keepSettings(root: Api): Promise<{ restore(): Promise<void> }> {
  const kept = asRecord((await root.call('GET', '/application/settings')).body)
  return {
    async restore() {
      const { status, body } = await root.call('PUT', '/application/settings', kept)
      if (status !== 200) throw new Error(`settings: ${status} ${JSON.stringify(body)}`)
    },
  }
}
