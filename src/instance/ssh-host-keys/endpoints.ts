import { z } from 'zod'
import { anyone } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { fingerprintOf, listHostKeys } from './host-keys.ts'

const sshEntity = z.strictObject({
  enabled: z.boolean(),
  host: z.string(),
  port: z.int(),
  user: z.literal('git'),
  host_keys: z.array(
    z.strictObject({ type: z.string(), key: z.string(), fingerprint_sha256: z.string() }),
  ),
})

export const getSshHostKeys = endpoint({
  method: 'GET',
  path: '/ssh_host_keys',
  summary: 'Get where git over SSH is answered, and the host keys of the server',
  access: anyone(),
  response: sshEntity,
  handler({ ctx }) {
    const { host, port, isOffered } = ctx.config.ssh
    // The keys of the system's sshd are its own.
    const keys = ctx.config.sshPort === 0 ? [] : listHostKeys(ctx)
    return {
      enabled: isOffered,
      host,
      port,
      user: 'git' as const,
      host_keys: keys.map(({ publicKey }) => ({
        type: publicKey.split(' ')[0] ?? '',
        key: publicKey,
        fingerprint_sha256: fingerprintOf(publicKey),
      })),
    }
  },
})
