import type { Migration } from '../migration.ts'

/** The bytes of everything that virtual registries have fetched, which one setting bounds. */
export const virtualCacheSize: Migration = {
  name: '0328-virtual-cache-size',
  sql: `
CREATE TABLE virtual_cache_size (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  bytes INTEGER NOT NULL
) STRICT;
INSERT INTO virtual_cache_size (id, bytes)
  SELECT 1, coalesce(sum(size), 0) FROM virtual_cache_entries;
CREATE TRIGGER virtual_cache_entries_inserted AFTER INSERT ON virtual_cache_entries BEGIN
  UPDATE virtual_cache_size SET bytes = bytes + new.size;
END;
CREATE TRIGGER virtual_cache_entries_resized AFTER UPDATE OF size ON virtual_cache_entries BEGIN
  UPDATE virtual_cache_size SET bytes = bytes + new.size - old.size;
END;
CREATE TRIGGER virtual_cache_entries_deleted AFTER DELETE ON virtual_cache_entries BEGIN
  UPDATE virtual_cache_size SET bytes = bytes - old.size;
END;
`,
}
