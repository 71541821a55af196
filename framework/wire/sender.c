/* One sender of datagrams: its numbers counted, its parts held until an instant is whole. */
#include <errno.h>
#include <stdlib.h>

#include "wire/sender.h"

static void held_free(struct sender *sender, struct held *held)
{
	for (uint32_t i = 0; i < held->nparts; i++) {
		sender->bytes -= sizeof(struct part) + held->parts[i]->length;
		free(held->parts[i]);
	}
	free(held->parts);
	free(held);
}

void sender_drop_first(struct sender *sender)
{
	held_free(sender, sender->held[0]);
	sender->nheld--;
	memmove(sender->held, sender->held + 1, sender->nheld * sizeof(struct held *));
}

void sender_free(struct sender *sender)
{
	while (sender->nheld)
		sender_drop_first(sender);
	definitions_free(&sender->definitions);
	free(sender);
}

/* Its place among those that are held, in order of their numbers. */
static struct held *find_held(struct sender *sender, uint64_t first, uint32_t *place)
{
	uint32_t i = sender->nheld;

	while (i && sender->held[i - 1]->first > first)
		i--;
	*place = i;
	return i && sender->held[i - 1]->first == first ? sender->held[i - 1] : NULL;
}

bool sender_is_whole(const struct held *held)
{
	return held->total && held->nparts == held->total;
}

int sender_add_part(struct sender *sender, struct held *held, struct part *part, bool last)
{
	uint32_t i = held->nparts, capacity;
	struct part **parts;

	if ((held->total && (part->index >= held->total || last)) ||
	    (last && i && held->parts[i - 1]->index > part->index))
		return -EBADMSG;
	while (i && held->parts[i - 1]->index > part->index)
		i--;
	if (i && held->parts[i - 1]->index == part->index)
		return -EBADMSG;
	if (held->nparts == held->capacity) {
		capacity = held->capacity ? held->capacity * 2 : 4;
		parts = realloc(held->parts, capacity * sizeof *parts);
		if (!parts)
			return -ENOMEM;
		held->parts = parts;
		held->capacity = capacity;
	}
	memmove(held->parts + i + 1, held->parts + i, (held->nparts - i) * sizeof(struct part *));
	held->parts[i] = part;
	held->nparts++;
	held->total = last ? part->index + 1 : held->total;
	sender->bytes += sizeof *part + part->length;
	return 0;
}

struct held *sender_hold(struct sender *sender, const struct held *like)
{
	uint32_t place;
	struct held *held = find_held(sender, like->first, &place);

	if (held)
		return held->sequence == like->sequence && held->begin == like->begin &&
				       held->length == like->length &&
				       held->realtime == like->realtime &&
				       held->header == like->header
			       ? held
			       : NULL;
	held = malloc(sizeof *held);
	if (!held)
		return NULL;
	*held = *like;
	memmove(sender->held + place + 1, sender->held + place,
		(sender->nheld - place) * sizeof(struct held *));
	sender->held[place] = held;
	sender->nheld++;
	return held;
}

bool sender_is_full(const struct sender *sender)
{
	return sender->nheld > (sender->any ? SENDER_HELD_LATER : SENDER_HELD) ||
	       sender->bytes > SENDER_BYTES;
}

static bool is_seen(const struct sender *sender, uint64_t number)
{
	return sender->seen[number % SENDER_WINDOW / 64] >> (number & 63) & 1;
}

static void see(struct sender *sender, uint64_t number, bool seen)
{
	uint64_t one = (uint64_t)1 << (number & 63),
		 *word = &sender->seen[number % SENDER_WINDOW / 64];

	*word = seen ? *word | one : *word & ~one;
}

bool sender_count(struct sender *sender, uint64_t number)
{
	struct datagram_counts *counts = &sender->counts;

	if (!counts->received++)
		sender->base = sender->next = number;
	if (number >= sender->next) {
		uint64_t lost = number - sender->next;

		counts->lost += lost;
		for (uint64_t i = 1; i <= lost && i < SENDER_WINDOW; i++)
			see(sender, number - i, false);
		sender->next = number + 1;
	} else if (sender->next - number > SENDER_WINDOW || is_seen(sender, number)) {
		counts->duplicates++;
		return false;
	} else {
		counts->reordered++;
		counts->lost -= number >= sender->base;
		if (sender->told_lost > counts->lost)
			sender->told_lost = counts->lost;
	}
	see(sender, number, true);
	return true;
}
