import { parseGpgKey } from '../../base/gpg-key.ts'
import type { Migration } from '../migration.ts'

/** The subkeys of registered GPG keys, which most signatures are made with. */
export const gpgSubkeys: Migration = {
  name: '0065-gpg-subkeys',
  sql: `
CREATE TABLE gpg_subkeys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  gpg_key_id INTEGER NOT NULL REFERENCES gpg_keys (id) ON DELETE CASCADE,
  fingerprint TEXT NOT NULL,
  key_id TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX gpg_subkeys_key ON gpg_subkeys (gpg_key_id, fingerprint);
CREATE INDEX gpg_subkeys_fingerprint ON gpg_subkeys (fingerprint);
CREATE INDEX gpg_subkeys_key_id ON gpg_subkeys (key_id);
`,
  run(database) {
    const insert = database.prepare(
      'INSERT OR IGNORE INTO gpg_subkeys (gpg_key_id, fingerprint, key_id) VALUES (?, ?, ?)',
    )
    const keys = database.prepare<[], { id: number; key: string }>('SELECT id, key FROM gpg_keys')
    for (const { id, key } of keys.all()) {
      for (const subkey of parseGpgKey(key)?.subkeys ?? []) {
        insert.run(id, subkey.fingerprint, subkey.keyId)
      }
    }
  },
}
