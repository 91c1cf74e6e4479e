import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { Server as TlsServer } from 'node:https'
import { createSecureContext } from 'node:tls'
import { systemClock } from '../../base/clock.ts'
import type { Config } from '../../base/config.ts'
import type { Log } from '../../base/log.ts'
import { reasonOf, StartError } from '../../base/start-error.ts'

/** The two files that a server needs to speak TLS by itself. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/** What is in them. */
export interface TlsPair {
  readonly cert: Buffer
  readonly key: Buffer
}

/** How often the files are looked at: certificates are renewed days before they end. */
const lookMs = 5000

/** The files that the settings name; undefined where the server speaks plain HTTP. */
export function tlsFiles({ tlsCert, tlsKey }: Pick<Config, 'tlsCert' | 'tlsKey'>) {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined) throw new StartError('GITSTEAD_TLS_KEY needs GITSTEAD_TLS_CERT')
  if (tlsKey === undefined) throw new StartError('GITSTEAD_TLS_CERT needs GITSTEAD_TLS_KEY')
  return { cert: tlsCert, key: tlsKey }
}

/** Reads both, and refuses what is no certificate with its key. */
export function readTlsPair(files: TlsFiles): TlsPair {
  const pair = {
    cert: read('GITSTEAD_TLS_CERT', files.cert),
    key: read('GITSTEAD_TLS_KEY', files.key),
  }
  try {
    createSecureContext(pair)
  } catch (error) {
    throw new StartError(
      `GITSTEAD_TLS_CERT and GITSTEAD_TLS_KEY must be PEM files of a certificate and its key (${reasonOf(error)})`,
    )
  }
  return pair
}

function read(name: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new StartError(`${name} cannot be read (${reasonOf(error)})`)
  }
}

/**
 * Gives new connections the certificate that is in the files by now, and gives how to stop that. While one file is there and the
 * other is not yet, the pair before goes on.
 */
export function followTlsFiles(
  server: Server,
  { files, first, log }: { readonly files: TlsFiles; readonly first: TlsPair; readonly log: Log },
): () => void {
  if (!(server instanceof TlsServer)) throw new Error('the server speaks no TLS')
  let used = first
  let refused = ''
  sayAge(first, log)
  const look = () => {
    try {
      const pair = readTlsPair(files)
      refused = ''
      if (pair.cert.equals(used.cert) && pair.key.equals(used.key)) return
      server.setSecureContext(pair)
      used = pair
      log.info('the certificate was read anew', { valid_to: endOf(pair) })
      sayAge(pair, log)
    } catch (error) {
      const reason = reasonOf(error)
      if (reason !== refused) log.warn('the certificate before goes on', { reason })
      refused = reason
    }
  }
  const timer = setInterval(look, lookMs).unref()
  return () => clearInterval(timer)
}

function endOf({ cert }: TlsPair): string {
  return new X509Certificate(cert).validTo
}

function sayAge(pair: TlsPair, log: Log): void {
  const validTo = endOf(pair)
  if (new Date(validTo).toISOString() < systemClock()) {
    log.warn('the certificate has expired', { valid_to: validTo })
  }
}
