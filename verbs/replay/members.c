/* Members of a JSON object, and what is said where one is not as it should be. */
#include "fixture.h"

int refuse(struct fixture *fixture, const char *where, const char *format, ...)
{
	va_list args;
	int n = snprintf(fixture->why, sizeof fixture->why, "%.200s: ", where);

	va_start(args, format);
	vsnprintf(fixture->why + n, sizeof fixture->why - (size_t)n, format, args);
	va_end(args);
	return -EBADMSG;
}

int check_members(struct fixture *fixture, const json_t *object, const char *where,
		  const char *const *members)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return refuse(fixture, where, "an object is wanted");
	json_object_foreach((json_t *)object, key, value)
	{
		size_t i = 0;

		while (members[i] && strcmp(members[i], key) != 0)
			i++;
		if (!members[i])
			return refuse(fixture, where, "there is no member \"%.64s\"", key);
	}
	return 0;
}

int take_text(struct fixture *fixture, const json_t *object, const char *where, const char *key,
	      size_t most, const char **text)
{
	const json_t *member = json_object_get(object, key);

	if (!member)
		return 0;
	if (!json_is_string(member))
		return refuse(fixture, where, "%s: a text is wanted", key);
	if (json_string_length(member) > most)
		return refuse(fixture, where, "%s: longer than %zu bytes", key, most);
	*text = json_string_value(member);
	if (strlen(*text) != json_string_length(member))
		return refuse(fixture, where, "%s: a zero byte is in it", key);
	return 0;
}

bool is_u64(const json_t *json, uint64_t *value)
{
	const char *text = json_string_value(json);
	char *end;

	if (json_is_integer(json) && json_integer_value(json) >= 0) {
		*value = (uint64_t)json_integer_value(json);
		return true;
	}
	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !errno && (size_t)(end - text) == json_string_length(json);
}

bool is_i64(const json_t *json, int64_t *value)
{
	if (json_is_integer(json))
		*value = json_integer_value(json);
	return json_is_integer(json);
}

int take_u64(struct fixture *fixture, const json_t *object, const char *where, const char *key,
	     uint64_t *value)
{
	const json_t *member = json_object_get(object, key);

	return !member || is_u64(member, value)
		       ? 0
		       : refuse(fixture, where, "%s: a whole number from 0 on is wanted", key);
}

int take_i64(struct fixture *fixture, const json_t *object, const char *where, const char *key,
	     int64_t *value)
{
	const json_t *member = json_object_get(object, key);

	return !member || is_i64(member, value)
		       ? 0
		       : refuse(fixture, where, "%s: a whole number is wanted", key);
}

int take_u32(struct fixture *fixture, const json_t *object, const char *where, const char *key,
	     uint32_t *value)
{
	uint64_t wide = *value;
	int err = take_u64(fixture, object, where, key, &wide);

	if (!err && wide > UINT32_MAX)
		return refuse(fixture, where, "%s: larger than %u", key, UINT32_MAX);
	*value = (uint32_t)wide;
	return err;
}

int take_bool(struct fixture *fixture, const json_t *object, const char *where, const char *key,
	      bool *value)
{
	const json_t *member = json_object_get(object, key);

	if (member && !json_is_boolean(member))
		return refuse(fixture, where, "%s: true or false is wanted", key);
	*value = member ? json_is_true(member) : *value;
	return 0;
}
