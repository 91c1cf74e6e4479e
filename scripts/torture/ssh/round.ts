import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { startServer, type TortureServer } from '../place/server.ts'
import { randomOf } from '../random.ts'
import type { Report } from '../report.ts'
import type { Round, RoundOptions } from '../round.ts'
import { sendEncrypted, sendPlainly, type Target } from './connections.ts'
import { type KnownNames, randomMessage } from './messages.ts'

/** Messages of one connection; most end it before the last. */
const MESSAGES = 20
const AT_ONCE = 8
const stages = ['plain', 'stranger', 'known'] as const

/** Messages of every kind over SSH, before keys are exchanged, before somebody signs in, and after that. */
export const sshRound: Round = {
  name: 'ssh',
  summary: 'messages over SSH, whole, cut and changed, before and after sign-in',
  unit: 'messages',
  usual: { count: 100_000, seconds: 0 },
  async run(options, report) {
    const port = await freePort()
    const { privateKey, publicKey, blob } = makeKey()
    const authorities = join(options.folder, 'authorities')
    writeFileSync(authorities, `${makeKey().publicKey}\n`)
    const server = await startServer(options.folder, {
      restart: true,
      env: { GITSTEAD_SSH_PORT: String(port), GITSTEAD_SSH_TRUSTED_CA: authorities },
    })
    try {
      await server.root.must('POST', '/user/keys', { title: 'fuzz', key: publicKey })
      await send(server, { port, privateKey }, { key: blob }, options, report)
    } finally {
      await server.stop()
    }
  },
}

async function send(
  server: TortureServer,
  target: Target,
  names: KnownNames,
  { seed, from, count, only }: RoundOptions,
  report: Report,
): Promise<void> {
  const last = from + Math.ceil(count / MESSAGES)
  const reached = { plain: 0, stranger: 0, known: 0 }
  let next = from
  const work = async () => {
    for (let at = next++; at < last; at = next++) {
      const random = randomOf(seed, at)
      const stage = random.pick(stages)
      if (only !== undefined && !stage.includes(only)) continue
      const messages = Array.from({ length: MESSAGES }, () => randomMessage(random, names))
      const again = `npm run torture -- --round ssh --seed ${seed} --from ${at} --count ${MESSAGES}`
      if (stage === 'plain') {
        await sendPlainly(target.port, messages)
        reached.plain += 1
        continue
      }
      const { isReached, admitted } = await sendEncrypted(target, stage === 'known', messages)
      if (isReached) reached[stage] += 1
      if (admitted) report.fail({ what: `a stranger was answered ${admitted}`, again })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  for (const stage of stages) {
    const value = reached[stage]
    report.figure({ name: `connections, ${stage}`, value, unit: 'that got there' })
  }
  report.figure({ name: 'ends of the server', value: server.deaths(), unit: '', atMost: 0 })
  const faults = server.faults()
  report.figure({ name: 'faults in the log', value: faults.length, unit: '', atMost: 0 })
  const [log] = faults
  if (log !== undefined) report.fail({ what: 'the server met what it did not expect', log })
  if (!(await greets(target))) report.fail({ what: 'who has a key is not let in any more' })
  const { body } = await server.root.call('GET', '/projects')
  const projects = Array.isArray(body) ? body.length : -1
  report.figure({ name: 'projects made', value: projects, unit: '', atMost: 0, atLeast: 0 })
}

/** Whether somebody with a key is greeted. */
function greets({ port, privateKey }: Target): Promise<boolean> {
  return new Promise((resolve) => {
    const client = new ssh2.Client()
    const end = (isGood: boolean) => {
      client.destroy()
      resolve(isGood)
    }
    client.on('error', () => end(false))
    client.on('ready', () =>
      client.shell(false, (error, channel) => {
        if (error) end(false)
        else channel.on('data', (bytes: Buffer) => end(bytes.toString().startsWith('Welcome')))
      }),
    )
    client.connect({ host: '127.0.0.1', port, username: 'git', privateKey })
  })
}

/** A key that the library reads itself: some that it makes it does not. */
function makeKey(): { privateKey: string; publicKey: string; blob: Buffer } {
  for (;;) {
    const made = ssh2.utils.generateKeyPairSync('ed25519')
    if (ssh2.utils.parseKey(made.private) instanceof Error) continue
    const blob = Buffer.from(made.public.split(' ')[1] ?? '', 'base64')
    return { privateKey: made.private, publicKey: made.public, blob }
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve())
  })
  const address = server.address()
  server.close()
  if (typeof address !== 'object' || address === null) throw new Error('no free port')
  return address.port
}
