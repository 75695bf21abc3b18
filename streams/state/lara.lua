#!lua name=lara_1

-- The state functions of lara. Loaded into every primary; the library's name carries its version.
--
-- Keys of one shard, all under its hash tag, `base` = "<prefix>:{sNN}":
--   base:meta          hash    floor, run_id, meaning, began (µs since the epoch), unsaid (ms: see `newest_commit`)
--   base:e:<key>       string  16 hex digits of the version, then the entity
--   base:m:<hour>      hash    "<minute of the hour>|<counter>" -> count
--   base:h:<day>       hash    "<hour of the day>|<counter>" -> count
--   base:total         hash    "<counter>" -> count, over all time
--   base:hours         zset    the hours that have a bucket
--   base:due           hash    entity key -> who set the mark and when, and what is corrected
--   base:watermarks    hash    "<topic>/<partition>" -> next offset
--   base:logs          hash    "<topic>/<partition>" -> "<times begun anew> <cluster>/<topic id>" of that watermark
--   base:fresh         hash    "<type>/event", "<type>/commit" -> newest, in ms (shard 0 only)
--
-- Nothing inside a function rolls back: every function decodes and compares everything before its first write.

local VERSION_LENGTH = 16
local HOURS_LOOKED_AT = 8 -- oldest hours, each commit: whether their buckets have expired
-- More versions than one entity is given between two restarts. Those that a restart lost may be published, and
-- lie above the floor noted here: where the clock was set back, the next floor must be above them all the same.
local VERSIONS_A_TERM = 1000000

local function floor_of(base)
  return redis.call('HGET', base .. ':meta', 'floor')
end

local function version_of(base, key)
  return redis.call('GETRANGE', base .. ':e:' .. key, 0, VERSION_LENGTH - 1)
end

local function add(key, field, delta)
  if redis.call('HINCRBY', key, field, delta) == 0 then
    redis.call('HDEL', key, field)
  end
end

-- Since when outputs may have been published from writes that a restart lost: the newest commit that is left.
local function newest_commit(base)
  local newest = 0
  local fresh = redis.call('HGETALL', base .. ':fresh')
  for i = 1, #fresh, 2 do
    if string.match(fresh[i], '/commit$') then
      newest = math.max(newest, tonumber(fresh[i + 1]))
    end
  end
  return string.format('%.0f', newest)
end

-- term(base; run id, candidate floor, meaning) -> {floor, meaning of the state}
-- A server with another run id than the one noted has restarted: its floor rises. Under another meaning nothing
-- is written: the caller is refused.
local function term(keys, args)
  local meta = keys[1] .. ':meta'
  local noted = redis.call('HMGET', meta, 'run_id', 'floor', 'meaning')
  local meaning = noted[3] or args[3]
  if noted[1] ~= args[1] and meaning == args[3] then
    local floor = args[2]
    if noted[2] and tonumber(noted[2]) >= tonumber(floor) then
      floor = string.format('%.0f', tonumber(noted[2]) + VERSIONS_A_TERM)
    end
    if not noted[2] then
      redis.call('HSET', meta, 'began', args[2])
    end
    redis.call('HSETNX', meta, 'unsaid', newest_commit(keys[1]))
    redis.call('HSET', meta, 'run_id', args[1], 'floor', floor, 'meaning', meaning)
    return {floor, meaning}
  end
  return {noted[2], meaning}
end

-- Entities, bucket differences and marks of one shard, once all is compared.
local function write(base, entity_ttl, bucket_ttl, writes, deltas, due)
  for i = 1, #writes, 3 do
    redis.call('SET', base .. ':e:' .. writes[i], writes[i + 2], 'EX', entity_ttl)
  end
  local touched = {}
  for i = 1, #deltas, 3 do
    local minute, counter, delta = deltas[i], deltas[i + 1], deltas[i + 2]
    local hour = math.floor(minute / 60)
    local day = math.floor(hour / 24)
    add(base .. ':m:' .. hour, (minute % 60) .. '|' .. counter, delta)
    add(base .. ':h:' .. day, (hour % 24) .. '|' .. counter, delta)
    add(base .. ':total', counter, delta)
    touched[base .. ':m:' .. hour] = hour
    touched[base .. ':h:' .. day] = -1
  end
  for key, hour in pairs(touched) do
    redis.call('EXPIRE', key, bucket_ttl)
    if hour >= 0 then
      redis.call('ZADD', base .. ':hours', hour, hour)
    end
  end
  if next(touched) then
    for _, hour in ipairs(redis.call('ZRANGE', base .. ':hours', 0, HOURS_LOOKED_AT - 1)) do
      if redis.call('EXISTS', base .. ':m:' .. hour) == 0 then
        redis.call('ZREM', base .. ':hours', hour)
      end
    end
    redis.call('EXPIRE', base .. ':hours', bucket_ttl)
  end
  for i = 1, #due, 2 do
    redis.call('HSET', base .. ':due', due[i], due[i + 1])
  end
  if #due > 0 then
    redis.call('EXPIRE', base .. ':due', entity_ttl)
  end
end

-- commit(base, …; packed {floor, entity ttl, bucket ttl, writes, deltas, due}, …)
--   -> {"refused"} | {"lost"} | {"written"}, of all shards named together
--   writes: key, expected version, value, … ; deltas: minute, counter, delta, … ; due: key, mark, …
local function commit(keys, args)
  local shards = {}
  for shard, base in ipairs(keys) do
    local floor, entity_ttl, bucket_ttl, writes, deltas, due = unpack(cmsgpack.unpack(args[shard]))
    if floor_of(base) ~= floor then
      return {'refused'}
    end
    shards[shard] = {base, entity_ttl, bucket_ttl, writes, deltas, due}
  end
  for _, shard in ipairs(shards) do
    local base, writes = shard[1], shard[4]
    for i = 1, #writes, 3 do
      if version_of(base, writes[i]) ~= writes[i + 1] then
        return {'lost'}
      end
    end
  end
  for _, shard in ipairs(shards) do
    write(unpack(shard))
  end
  return {'written'}
end

-- begin(base; packed {floor, partition, times begun anew, identity, …}) -> {"refused"} | {"written"}
-- Notes which log each partition's watermark belongs to. One begun anew forgets the watermark, once: whoever says
-- the same again changes nothing, and whoever says less is refused.
local function begin(keys, args)
  local base = keys[1]
  local logs = cmsgpack.unpack(args[1])
  if floor_of(base) ~= logs[1] then
    return {'refused'}
  end
  local noted = {}
  for i = 2, #logs, 3 do
    local anew, identity = string.match(redis.call('HGET', base .. ':logs', logs[i]) or '0 ', '^(%d+) (.*)$')
    noted[i] = tonumber(anew)
    local other = noted[i] == logs[i + 1] and identity ~= '' and identity ~= logs[i + 2]
    if noted[i] > logs[i + 1] or other then
      return {'refused'}
    end
  end
  for i = 2, #logs, 3 do
    if noted[i] < logs[i + 1] then
      redis.call('HDEL', base .. ':watermarks', logs[i])
    end
    redis.call('HSET', base .. ':logs', logs[i], string.format('%.0f %s', logs[i + 1], logs[i + 2]))
  end
  return {'written'}
end

local function raise(key, pairs_of_fields)
  for i = 1, #pairs_of_fields, 2 do
    local known = redis.call('HGET', key, pairs_of_fields[i])
    if not known or tonumber(known) < pairs_of_fields[i + 1] then
      redis.call('HSET', key, pairs_of_fields[i], string.format('%.0f', pairs_of_fields[i + 1]))
    end
  end
end

-- advance(base; packed {floor, bucket ttl, marks, fresh}) -> {"refused"} | {"written"}
--   marks: partition, offset, log as noted, … ; fresh: field, ms, … ; neither ever goes back
local function advance(keys, args)
  local base = keys[1]
  local floor, bucket_ttl, marks, fresh = unpack(cmsgpack.unpack(args[1]))
  if floor_of(base) ~= floor then
    return {'refused'}
  end
  local raised = {}
  for i = 1, #marks, 3 do
    local noted = redis.call('HGET', base .. ':logs', marks[i])
    if noted and noted ~= marks[i + 2] then
      return {'refused'}
    end
    raised[#raised + 1] = marks[i]
    raised[#raised + 1] = marks[i + 1]
  end
  raise(base .. ':watermarks', raised)
  raise(base .. ':fresh', fresh)
  if #fresh > 0 then
    redis.call('EXPIRE', base .. ':fresh', bucket_ttl)
  end
  return {'written'}
end

-- clear(base; packed {key, mark, version, …}): takes back the marks that nobody renewed meanwhile.
local function clear(keys, args)
  local base = keys[1]
  local published = cmsgpack.unpack(args[1])
  for i = 1, #published, 3 do
    local key, token, version = published[i], published[i + 1], published[i + 2]
    if redis.call('HGET', base .. ':due', key) == token and version_of(base, key) == version then
      redis.call('HDEL', base .. ':due', key)
    end
  end
  return {'written'}
end

-- said(base; floor) -> {"refused"} | {"written"}: what was said in vain is due again.
local function said(keys, args)
  if floor_of(keys[1]) ~= args[1] then
    return {'refused'}
  end
  redis.call('HDEL', keys[1] .. ':meta', 'unsaid')
  return {'written'}
end

-- set_watermark(base; partition, offset): as asked, also back. The floor rises, so that no batch under way undoes it.
local function set_watermark(keys, args)
  local base = keys[1]
  redis.call('HSET', base .. ':meta', 'floor', string.format('%.0f', tonumber(floor_of(base)) + 1))
  redis.call('HSET', base .. ':watermarks', args[1], args[2])
  return {'written'}
end

redis.register_function('lara_1_term', term)
redis.register_function('lara_1_commit', commit)
redis.register_function('lara_1_begin', begin)
redis.register_function('lara_1_advance', advance)
redis.register_function('lara_1_clear', clear)
redis.register_function('lara_1_said', said)
redis.register_function('lara_1_set_watermark', set_watermark)
