# Users behind access routers, in ns-2: they think, send a file to a host elsewhere, and think again.
# ns network.tcl SEED SECONDS SOURCES RECEIVERS prints a line for each quantity; sources and receivers are those behind
# each access router. The network is that of tests/test_users_against_ns2.py.
lassign $argv seed duration sources receivers
set think_s 6.0
set mean_packets 30.0
set shape 1.5

$defaultRNG seed $seed
proc stream {} {
    set rng [new RNG]
    $rng next-substream
    return $rng
}
set choice [stream]
set think [new RandomVariable/Exponential]
$think set avg_ $think_s
$think use-rng [stream]
set size [new RandomVariable/Pareto]
$size set avg_ $mean_packets
$size set shape_ $shape
$size use-rng [stream]

set ns [new Simulator]
foreach router {left right a b c d} { set node($router) [$ns node] }
proc wire {name from to rate delay limit} {
    global ns node watched
    $ns duplex-link $node($from) $node($to) $rate $delay DropTail
    $ns queue-limit $node($from) $node($to) $limit
    $ns queue-limit $node($to) $node($from) $limit
    set watched($name) [$ns monitor-queue $node($from) $node($to) ""]
    set watched($name.reverse) [$ns monitor-queue $node($to) $node($from) ""]
}
wire backbone left right 4Mb 20ms 40
wire fast0 a left 8Mb 5ms 40
wire normal0 b left 3Mb 5ms 20
wire fast1 c right 8Mb 5ms 40
wire normal1 d right 3Mb 5ms 20
array set class {a fast b normal c fast d normal}

proc host {router} {
    global ns node
    set host [$ns node]
    $ns duplex-link $host $node($router) 10Mb 0.5ms DropTail
    $ns queue-limit $host $node($router) 100000
    $ns queue-limit $node($router) $host 100000
    return $host
}
set targets {}
foreach router {a b c d} {
    for {set i 0} {$i < $receivers} {incr i} { lappend targets [list $router [host $router]] }
}
foreach router {a b c d} {
    for {set i 0} {$i < $sources} {incr i} { lappend all [list $router [host $router]] }
}

set busy 0
set samples {}
set retransmitted 0
foreach path {fast-fast fast-normal normal-normal} { set completed($path) 0; set packets($path) 0 }

Agent/TCP set packetSize_ 1460
Agent/TCP set window_ 10000
Agent/TCP/Newreno set windowInit_ 2
Agent/TCP instproc done {} { finish $self }

proc rest {source} {
    global ns think
    $ns at [expr {[$ns now] + [$think value]}] [list begin $source]
}
proc begin {source} {
    global ns targets choice size all class busy life
    lassign [lindex $all $source] router host
    set target $router
    while {$target eq $router} { lassign [lindex $targets [$choice integer [llength $targets]]] target to }
    set count [expr {int(ceil([$size value]))}]
    set tcp [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $ns attach-agent $host $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    set life($tcp) [list $source $host $to $sink [join [lsort [list $class($router) $class($target)]] -] $count]
    incr busy
    # The first packet is the SYN.
    $tcp advanceby [expr {$count + 1}]
}
proc finish {tcp} {
    global ns life
    # Not within the agent's own call.
    $ns at [$ns now] [list bury $tcp]
}
proc bury {tcp} {
    global ns life busy completed packets retransmitted
    lassign $life($tcp) source host to sink path count
    unset life($tcp)
    incr busy -1
    incr completed($path)
    incr packets($path) $count
    incr retransmitted [$tcp set nrexmitpack_]
    # The agents stay: copies of packets may still be on their way to them.
    rest $source
}
proc look {} {
    global ns busy samples
    lappend samples $busy
    $ns at [expr {[$ns now] + 1.0}] look
}
proc report {} {
    global watched completed packets retransmitted samples life
    foreach tcp [array names life] { incr retransmitted [$tcp set nrexmitpack_] }
    foreach path [lsort [array names completed]] {
        puts "completed:$path $completed($path)"
        puts "packets:$path $packets($path)"
    }
    foreach link [lsort [array names watched]] {
        puts "in:$link [$watched($link) set parrivals_]"
        puts "dropped:$link [$watched($link) set pdrops_]"
    }
    puts "retransmitted $retransmitted"
    set sum 0
    foreach sample $samples { incr sum $sample }
    puts "busy [expr {double($sum) / [llength $samples]}]"
    exit 0
}
for {set i 0} {$i < [llength $all]} {incr i} { rest $i }
$ns at 1.0 look
$ns at $duration report
$ns run
