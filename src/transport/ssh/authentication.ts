import type { AuthContext, PublicKeyAuthContext } from 'ssh2'
import type { Ctx } from '../../ctx.ts'
import { fingerprintOf } from '../../instance/ssh-host-keys/host-keys.ts'
import { findSignInKey, findSshActor, type SshIdentity } from './actor.ts'
import { trustCertificate } from './authorities.ts'
import { isCertificate, isProven, isProvenByCertificate } from './signature.ts'

/** The one name under which everybody signs in: who it is, the key says. */
const USER = 'git'
/** Programs that hold keys offer them one after the other. */
const MOST_KEYS = 20

/** The library passes a request on that ends before its key. */
function namesKey({ key }: PublicKeyAuthContext): boolean {
  return (
    (key.data as Buffer | undefined) !== undefined && (key.algo as string | undefined) !== undefined
  )
}

interface Found {
  readonly identity: SshIdentity
  isProven(): boolean
}

/** The sign-in of one connection. */
export class Authentication {
  readonly #ctx: Ctx
  readonly #giveUp: () => void
  #tried = 0
  #identity: SshIdentity | undefined

  /** `giveUp` ends the connection of a client that tries too much. */
  constructor(ctx: Ctx, giveUp: () => void) {
    this.#ctx = ctx
    this.#giveUp = giveUp
  }

  /** Who signed in; undefined before. */
  get identity(): SshIdentity | undefined {
    return this.#identity
  }

  answer(asked: AuthContext): void {
    this.#tried += 1
    if (this.#tried > MOST_KEYS) {
      this.#giveUp()
      return
    }
    if (asked.method !== 'publickey' || asked.username !== USER || !namesKey(asked)) {
      asked.reject(['publickey'])
      return
    }
    this.#judge(asked).catch((error: unknown) => {
      this.#ctx.log.error('a key was not looked up', { error })
      this.#giveUp()
    })
  }

  async #judge(asked: PublicKeyAuthContext): Promise<void> {
    const found = await this.#find(asked)
    const identity = found?.identity
    // Without a signature the client only asks whether the key would do.
    if (!identity || (asked.signature && !found.isProven())) {
      asked.reject(['publickey'])
      return
    }
    if (asked.signature) this.#identity = identity
    asked.accept()
  }

  async #find(asked: PublicKeyAuthContext): Promise<Found | undefined> {
    if (isCertificate(asked.key.algo)) {
      const trusted = await trustCertificate(this.#ctx, asked.key.data)
      if (!trusted || !(await findSshActor(this.#ctx, trusted.identity))) return undefined
      const { identity, certificate } = trusted
      return { identity, isProven: () => isProvenByCertificate(asked, certificate) }
    }
    const identity = await this.#identityOf(asked)
    return identity && { identity, isProven: () => isProven(asked) }
  }

  async #identityOf({ key }: PublicKeyAuthContext): Promise<SshIdentity | undefined> {
    const name = fingerprintOf(`${key.algo} ${key.data.toString('base64')}`)
    const row = await findSignInKey(this.#ctx, name)
    if (!row?.key.startsWith(`${key.algo} `)) return undefined
    const identity: SshIdentity = { keyId: row.id }
    return (await findSshActor(this.#ctx, identity)) ? identity : undefined
  }
}
